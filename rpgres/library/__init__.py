"""The library: what `import rpgres` gives to bots, scripts and notebooks. Nothing here prints, exits or keeps state."""
