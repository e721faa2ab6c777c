import type { TenantId } from '../../common/kernel/brand.ts';
import { eventsCollection } from '../../common/platform/events/event-log.ts';
import { publishedOffset } from '../../common/platform/events/relay-position.ts';
import type { WallClock } from '../../common/ports/system.ts';
import { type DocumentStore, remove } from '../../common/storage/ports/document-store.ts';
import type { Retentions } from '../repositories/retention.ts';

interface Dependencies {
  readonly store: DocumentStore;
  readonly retentions: Retentions;
  readonly clock: WallClock;
  readonly settings: {
    /** Events are published to Kafka: none is removed before that. */
    readonly eventsArePublished: boolean;
  };
}

/** Events that one commit removes. */
const PAGE = 500;
/** Commits for one tenant in one pass, so that others need not wait. */
const PAGES_PER_PASS = 20;

/**
 * Removes what tenants' event logs hold for longer than their resources declare, oldest first. Returns the number of
 * events. Ends early, without an error, once `signal` is aborted.
 */
export async function expireEvents(deps: Dependencies, signal?: AbortSignal): Promise<number> {
  const { clock, retentions, settings } = deps;
  let published: number | null = null;
  let removed = 0;
  for await (const { owner, retention } of retentions.ofTenants.all()) {
    if (signal?.aborted) break;
    if (retention.eventsMs === null) continue;
    if (settings.eventsArePublished) published ??= await publishedOffset(deps.store);
    const before = new Date(clock.now().getTime() - retention.eventsMs).toISOString();
    removed += await expireOf(deps, owner, { before, published, signal });
  }
  return removed;
}

async function expireOf(
  { store }: Dependencies,
  owner: { readonly tenant: TenantId },
  {
    before,
    published,
    signal,
  }: { readonly before: string; readonly published: number | null; readonly signal: AbortSignal | undefined },
): Promise<number> {
  const where = published === null ? {} : { sequence: { atMost: published } };
  let removed = 0;
  for (let page = 0; page < PAGES_PER_PASS && !signal?.aborted; page += 1) {
    const { items } = await store.find(owner, eventsCollection, { where, sort: [{ field: 'sequence' }], limit: PAGE });
    // Clocks of processes differ a little: the first young event ends the search.
    const young = items.findIndex(({ value }) => value.occurredAt >= before);
    const old = young === -1 ? items : items.slice(0, young);
    if (old.length > 0) {
      await store.commit(
        owner,
        old.map(({ id }) => remove(eventsCollection, id)),
      );
    }
    removed += old.length;
    if (old.length < PAGE) break;
  }
  return removed;
}
