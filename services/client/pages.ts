/** The list in an answer: the answer itself, or its one field that is a list. */
export type ItemOf<Answer> = Answer extends readonly (infer Item)[]
  ? Item
  : { [Field in keyof Answer]: Answer[Field] extends readonly (infer Item)[] ? Item : never }[keyof Answer];

const PAGE = 100;

type Page = Readonly<Record<string, unknown>> | readonly unknown[];

/**
 * Yields the items of all pages. Pages follow each other by the cursor that an answer names (`next`, sent as `after`), else
 * by `offset`, until one is not full.
 */
export async function* itemsOfPages(
  read: (query: Readonly<Record<string, unknown>>) => Promise<unknown>,
  query: Readonly<Record<string, unknown>> = {},
): AsyncGenerator<unknown, void, undefined> {
  const limit = Number(query['limit'] ?? PAGE);
  let position: Readonly<Record<string, unknown>> = {};
  for (let seen = Number(query['offset'] ?? 0); ; ) {
    const page = (await read({ ...query, limit, ...position })) as Page;
    const items = listOf(page);
    yield* items;
    seen += items.length;
    const next = nextOf(page, { isFull: items.length >= limit, seen });
    if (next === null) return;
    position = next;
  }
}

function listOf(page: Page): readonly unknown[] {
  if (Array.isArray(page)) return page;
  return (Object.values(page).find(Array.isArray) ?? []) as readonly unknown[];
}

function nextOf(
  page: Page,
  { isFull, seen }: { readonly isFull: boolean; readonly seen: number },
): Readonly<Record<string, unknown>> | null {
  const { next, has_more: hasMore } = page as { readonly next?: unknown; readonly has_more?: unknown };
  if (next !== undefined) return next === null ? null : { after: next };
  return (hasMore ?? isFull) === true ? { offset: seen } : null;
}
