"""What training jobs send: collectives as NCCL does them, as traffic and as schedules; orders of ranks.

`trees` has NCCL's two trees, `collective` what a spec says and how many bytes go from whom to whom,
`schedule` which message waits for which, `decomposed` the same for collectives of traces, `models` the bytes
of a step, `recorded` what jobs called of NCCL, `placed` ranks by leaf.
"""
