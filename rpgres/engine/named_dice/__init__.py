"""Actions with named dice, as TOML describes them: rolled, asked, read and evaluated; and their exact odds."""
