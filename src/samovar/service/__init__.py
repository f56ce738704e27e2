"""The service: tasks as resources over HTTP, and a page to teach and to ask.

Install `samovar[serve]` to use it; `samovar serve` starts it.
"""
