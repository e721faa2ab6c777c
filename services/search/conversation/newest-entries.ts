/** What of a session is looked through, however long it is. */
const READ_LIMITS = { entries: 2000, characters: 8_000_000 } as const;

/** Entries may be megabytes: pages begin small, and grow by so much when what was read was small. */
const FIRST_PAGE = 10;
const GROWTH = 4;
const GREATEST_PAGE = 500;

interface NewestEntries<Entry> {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  /** Older ones that were left unread. */
  readonly unread: number;
}

export interface EntryPages<Entry> {
  /** Entries ever appended, and how many of the oldest are gone: they are numbered from 1 without gaps. */
  readonly count: number;
  readonly expired: number;
  after(number: number, limit: number): Promise<readonly Entry[]>;
  /** Characters, about. */
  sizeOf(entry: Entry): number;
}

/**
 * The newest entries of a session, page by page towards the past, until a limit is reached. Pages are as long as what
 * was read so far lets one expect to fit. The newest entry is always read.
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
