/** An address without port, brackets, zone and the IPv6 form of an IPv4 address: `[::ffff:10.0.0.1]:80` → `10.0.0.1`. */
export function plainAddress(text: string): string {
  const trimmed = text.trim().toLowerCase();
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed)?.[1];
  const isIpv4WithPort = /^[\d.]+:\d+$/.test(trimmed);
  const address = bracketed ?? (isIpv4WithPort ? (trimmed.split(':', 1)[0] ?? '') : trimmed);
  return address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, '');
}

/**
 * The smallest range that one party has: an IPv4 address, or the first 64 bits of an IPv6 address, since a holder of one of those
 * addresses has them all. Text that is no address is itself.
 */
export function networkOf(text: string): string {
  const address = plainAddress(text);
  if (!/^[\da-f:]*:[\da-f:.]*$/.test(address)) return address;
  const [head = '', tail] = address.split('::', 2);
  const leading = groupsOf(head);
  const trailing = tail === undefined ? [] : groupsOf(tail);
  const gap = tail === undefined ? 0 : Math.max(0, 8 - leading.length - trailing.length);
  const groups = [...leading, ...Array.from({ length: gap }, () => '0'), ...trailing];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** The last 32 bits may be written as an IPv4 address, which counts for two groups. */
function groupsOf(text: string): string[] {
  return text.split(':').flatMap((group) => (group === '' ? [] : group.includes('.') ? ['0', '0'] : [group]));
}
