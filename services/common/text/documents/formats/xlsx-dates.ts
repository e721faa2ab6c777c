const DAY_MS = 86_400_000;

/** Number formats 14–22, 27–36, 45–47 and 50–58 are dates and times (ECMA-376 part 1, 18.8.30); own codes are read. */
export function isDateFormat(id: number, code: string | null): boolean {
  if (code !== null) {
    const bare = code.replaceAll(/"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]/gi, '');
    return /[ymdhs]/i.test(bare) && !/general/i.test(bare);
  }
  return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);
}

/** Days since 1899-12-30 (or 1904-01-01), the fraction being the time, as ISO text; null outside the years people write. */
export function serialDate(serial: number, startsIn1904: boolean): string | null {
  if (!Number.isFinite(serial) || serial < 0 || serial > 2_958_466) return null;
  const epoch = startsIn1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30);
  const at = new Date(epoch + Math.round((serial * DAY_MS) / 1_000) * 1_000).toISOString();
  const time = at.slice(11, 19);
  if (serial < 1 && !startsIn1904) return time;
  return time === '00:00:00' ? at.slice(0, 10) : `${at.slice(0, 10)} ${time}`;
}
