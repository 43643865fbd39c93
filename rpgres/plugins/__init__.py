"""The hook specification, discovery of plugins, and the scaffold of a new one."""
