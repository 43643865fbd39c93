_rpgres_completion() {
    local IFS=$' \t\n' rest=$COMP_LINE word current="" breaks prefix="" i
    local -a words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $i == 0 || $rest == [[:space:]]* ]]; then
            words+=("$word")
        else
            words[${#words[@]} - 1]+=$word
        fi
        rest=${rest#"${rest%%[![:space:]]*}"}
        rest=${rest#"$word"}
    done
    current=${words[${#words[@]} - 1]}
    [[ $current == --*=* ]] && current=${current#*=}
    breaks=${COMP_WORDBREAKS//[^=:]/}
    if [[ -n $breaks && $current == *["$breaks"]* ]]; then
        prefix=${current%"${current##*["$breaks"]}"}
    fi
    IFS=$'\n'
    COMPREPLY=( $( env COMP_WORDS="${words[*]}" \
                   COMP_CWORD=$(( ${#words[@]} - 1 )) \
                   _RPGRES_COMPLETE=complete_bash $1 ) )
    COMPREPLY=( "${COMPREPLY[@]#"$prefix"}" )
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}

complete -o default -F _rpgres_completion rpgres
