import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { plainAddress } from '../../kernel/network-address.ts';

/** Finds the address that a request comes from, as far as proxies are trusted. */
export type ClientAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string;

/**
 * The address of the socket's peer; where that is a trusted proxy, the last address of `X-Forwarded-For` that is none: each
 * proxy adds the peer it saw at the end, so everything left of the first stranger may be made up.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = blockListOf(trustedProxies);
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return ({ socket, headers }) => {
    let client = plainAddress(socket.remoteAddress ?? '');
    if (trustedProxies.length === 0) return client;
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
    while (isIP(client) !== 0 && isTrusted(client)) {
      const before = plainAddress(forwarded.pop() ?? '');
      if (isIP(before) === 0) return client;
      client = before;
    }
    return client;
  };
}

/** Ranges as `10.0.0.0/8`, or single addresses; the configuration has checked them. */
function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/', 2);
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
