/** A page of a keyset-ordered listing; `next` is null on the last page and otherwise goes back into `after`. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** The pages of `read`, from the first to the last. */
export async function* pagesOf<T>(
  read: (after: string | null) => Promise<Page<T>>,
): AsyncGenerator<readonly T[], void, undefined> {
  let after: string | null = null;
  do {
    const page: Page<T> = await read(after);
    yield page.items;
    after = page.next;
  } while (after !== null);
}

/** What is on the pages of `read`, one by one. */
export async function* entriesOf<T>(
  read: (after: string | null) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  for await (const page of pagesOf(read)) yield* page;
}
