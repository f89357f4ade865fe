"""What congests a fabric, and whose fault it is: congestion trees, their roots, and rules that name a cause.

| module | what |
|---|---|
| `observed` | what is known: samples and counters by window, jobs and links |
| `trees` | congestion followed downstream to the links that are full |
| `remap` | which host of a job would better lie where |
| `mappings` | what a scenario's job would send under other mappings |
| `ideal` | what the fullest link would carry with other routes, in other places |
| `findings` | what a diagnosis says |
| `rules` | from roots to findings: a cause, its evidence, a remedy |
| `cases` | generated runs of known cause, for the self-test |
| `selftest` | how often the rules are right about them |
| `tries` | remedies simulated |

Source: Taffet, dissertation, sec. 2.3.4.
"""
