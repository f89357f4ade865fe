"""What congests a fabric, and whose fault it is: congestion trees, their roots, and rules that name a cause.

| module | what |
|---|---|
| `observed` | what is known: samples and counters by window, jobs and links |
| `trees` | congestion followed downstream to the links that are full |
| `remap` | which host of a job would better lie where |
| `mappings` | what a scenario's job would send under other mappings |
| `ideal` | what the fullest link would carry with other routes, in other places |
| `draws` | how sure findings are, of the samples' errors |
| `findings` | what a diagnosis says |
| `rules` | from roots to findings: a cause, its evidence, a remedy |
| `evidence` | what waits for which root, and what of each link is whose |
| `endpoints` | incasts, and messages that meet |
| `interior` | routes, mapping or the fabric |
| `places` | whether ranks had better lie elsewhere |
| `cases` | generated runs of known cause, for the self-test |
| `selftest` | how often the rules are right about them |
| `tries` | remedies simulated |

Source: Taffet, dissertation, sec. 2.3.4.
"""
