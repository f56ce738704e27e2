"""The command line, one file for each command; heavy imports happen inside the commands, so that help is instant."""
