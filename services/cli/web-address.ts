/** The address, null when the text is none: `URL.parse`, which Node 20 lacks. */
export function webAddress(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
