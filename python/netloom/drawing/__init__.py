"""Pictures of what verbs found: what is read, chosen and put into words before `netloom.plot` draws it."""
