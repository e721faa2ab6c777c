import { BlockList, isIP } from 'node:net';

/**
 * Networks that are not the public internet: IANA's special-purpose registries for IPv4 and IPv6, with multicast and what is reserved.
 * IPv6 is taken the other way round: only 2000::/3 is in public use, less the parts listed.
 */
const NOT_PUBLIC_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by carrier-grade NAT; also metadata services of some clouds
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, metadata services of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
] as const;

const NOT_PUBLIC_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4 carries an IPv4 address of its own
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
] as const;

const notPublic = new BlockList();
for (const network of NOT_PUBLIC_IPV4) addNetwork(notPublic, network, 'ipv4');
for (const network of NOT_PUBLIC_IPV6) addNetwork(notPublic, network, 'ipv6');

const globalIpv6 = new BlockList();
addNetwork(globalIpv6, '2000::/3', 'ipv6');

function addNetwork(list: BlockList, network: string, family: 'ipv4' | 'ipv6'): void {
  const [address = '', prefix = ''] = network.split('/');
  list.addSubnet(address, Number(prefix), family);
}

/**
 * Returns whether an address, in any spelling of `net.isIP`, is public. IPv4 in IPv6 (`::ffff:a.b.c.d`), NAT64 and
 * every zone id are refused as a whole: nothing public is reachable only by them.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !notPublic.check(address, 'ipv4');
    case 6:
      return !address.includes('%') && globalIpv6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
    default:
      return false;
  }
}
