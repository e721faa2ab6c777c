/** RFC 1123; without port, and fully qualified: `localhost` alone or an address would be somebody else's way in. */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_LENGTH = 253;

/** The host name as it is compared: lower case and without final dot. Null for a text that is none. */
export function checkHostName(text: string): string | null {
  const name = text.trim().toLowerCase().replace(/\.$/, '');
  const labels = name.split('.');
  if (name.length > MAX_LENGTH || labels.length < 2 || !labels.every((label) => LABEL.test(label))) return null;
  // An IPv4 address has no letter in its last label.
  return /[a-z]/.test(labels.at(-1) ?? '') ? name : null;
}
