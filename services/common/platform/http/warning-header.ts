/** The `Warning` header (RFC 7234 §5.5) with one text; no header without one. */
export function warningHeader(text: string | null): { readonly headers?: Readonly<Record<string, string>> } {
  if (text === null) return {};
  const quoted = text.replace(/[^\x20-\x7e]/gu, '?').replace(/["\\]/gu, '\\$&');
  return { headers: { Warning: `299 - "${quoted}"` } };
}
