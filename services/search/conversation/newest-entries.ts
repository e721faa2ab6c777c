/** Maximum entries and characters of a session that are searched. */
const READ_LIMITS = { entries: 2000, characters: 8_000_000 } as const;

/** Entries may have megabytes: the first page is small, and pages grow when the entries are small. */
const FIRST_PAGE = 10;
const GROWTH = 4;
const GREATEST_PAGE = 500;

interface NewestEntries<Entry> {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  /** Number of older entries that were not read. */
  readonly unread: number;
}

export interface EntryPages<Entry> {
  /** Entries appended so far, numbered from 1 without gaps, and how many of the oldest have expired. */
  readonly count: number;
  readonly expired: number;
  after(number: number, limit: number): Promise<readonly Entry[]>;
  /** Approximate characters. */
  sizeOf(entry: Entry): number;
}

/**
 * Reads the newest entries of a session, page by page towards the past, until a limit is reached. The size of a page is
 * estimated from the entries read so far. The newest entry is always read.
 */
export async function newestEntries<Entry>(
  pages: EntryPages<Entry>,
  limits: { readonly entries: number; readonly characters: number } = READ_LIMITS,
): Promise<NewestEntries<Entry>> {
  const read: (readonly Entry[])[] = [];
  const first = Math.max(pages.expired, pages.count - limits.entries);
  let next = pages.count;
  let characters = 0;
  let length = FIRST_PAGE;
  while (next > first && characters < limits.characters) {
    const after = Math.max(first, next - length);
    const page = await pages.after(after, next - after);
    read.push(page);
    for (const entry of page) characters += pages.sizeOf(entry);
    const mean = characters / Math.max(1, pages.count - after);
    const fitting = Math.floor((limits.characters - characters) / Math.max(1, mean));
    length = Math.max(1, Math.min(GREATEST_PAGE, GROWTH * length, fitting));
    next = after;
  }
  return { entries: read.toReversed().flat(), unread: next - pages.expired };
}
