/** Of a `Host` header, or of an address: without port, brackets and final dot, in lower case. */
export function hostName(host: string): string {
  const name = host.trim().toLowerCase();
  if (name.startsWith('[')) return name.slice(1, Math.max(name.indexOf(']'), 1));
  // A bare IPv6 address has several colons and no port.
  return name.split(':').length > 2 ? name : (name.split(':', 1)[0] ?? '').replace(/\.$/, '');
}
