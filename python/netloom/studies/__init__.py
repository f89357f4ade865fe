"""Studies of papers run again: what is asked, what papers found, what is found here. A package a paper."""
