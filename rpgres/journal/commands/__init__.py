"""Commands of a persistent table, one function each; a command adds entries to the journal, or changes nothing.

Commands are given by a seat (`--as`), or by the host, who owns the file and may do anything.
"""

from rpgres.journal.commands.acting import act, actor_of, answer, turn
from rpgres.journal.commands.correcting import left_wrong, let_pass, may_pass, redo, reveal, set_value, undo, write_note
from rpgres.journal.commands.ordering import orders_warnings, owner_of, set_orders
from rpgres.journal.commands.pending import prepared_for, require_own
from rpgres.journal.commands.posted import sort_posted, take
from rpgres.journal.commands.sealing import open_seal, seal
from rpgres.journal.commands.seating import (
    TRUSTS,
    begin_table,
    join,
    kept_hands,
    seated,
    set_table,
    sheets_to_name,
    streams_of,
)
from rpgres.journal.commands.writing import Done, Place, check_seat, code_of, fresh_salt, hash_of, rules_of, state_at
