/** An address without the password that may stand in it: everybody signed in reads the settings. */
export function shownUrl(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null || url.password === '') return text;
  url.password = '*****';
  return url.href;
}
