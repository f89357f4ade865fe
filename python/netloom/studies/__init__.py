"""Studies of papers run again: what is asked, what the papers found, what is found here. A package a paper."""
