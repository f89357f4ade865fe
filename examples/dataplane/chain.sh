#!/bin/sh
# Two hosts and two switches on one machine: h1 - s1 - s2 - h2, as network namespaces. Needs root and iproute2.
#
#   chain.sh up      make it (an earlier one goes first); net.txt and ports.csv are beside this file
#   chain.sh send N  N packets from h1 to h2
#   chain.sh down    take it away
set -eu
PATH="$PATH:/usr/sbin:/sbin"
nodes="h1 s1 s2 h2"

down() {
    for node in $nodes; do
        ip netns delete "chain-$node" 2>/dev/null || true
    done
}

case "${1-}" in
up)
    down
    for node in $nodes; do
        ip netns add "chain-$node"
        ip netns exec "chain-$node" sysctl -qw net.ipv4.ip_forward=1
    done
    cable() { # node, interface, address, and those of the other end
        ip -n "chain-$1" link add "$2" type veth peer name "$5" netns "chain-$4"
        ip -n "chain-$1" addr add "$3/31" dev "$2"
        ip -n "chain-$4" addr add "$6/31" dev "$5"
        ip -n "chain-$1" link set "$2" up
        ip -n "chain-$4" link set "$5" up
    }
    cable h1 p1 10.9.0.0 s1 p1 10.9.0.1
    cable s1 p2 10.9.1.0 s2 p2 10.9.1.1
    cable s2 p1 10.9.2.0 h2 p1 10.9.2.1
    ip -n chain-h1 route add default via 10.9.0.1
    ip -n chain-h2 route add default via 10.9.2.0
    ip -n chain-s1 route add 10.9.2.1 via 10.9.1.1
    ip -n chain-s2 route add 10.9.0.0 via 10.9.1.0
    ;;
send)
    ip netns exec chain-h1 python3 -c '
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    for _ in range(int(sys.argv[1])):
        sender.sendto(bytes(20), ("10.9.2.1", 9))
' "${2-20000}"
    ;;
down) down ;;
*)
    echo "usage: $0 up | send N | down" >&2
    exit 2
    ;;
esac
