"""Runs pieces of work on an existing engine, and knows nothing of what is in them.

A piece is a command of `samovar` that writes one result whole and does nothing if it is there. So
any engine may run pieces in any order, twice, or again after a crash, and so may a shell loop.
"""
