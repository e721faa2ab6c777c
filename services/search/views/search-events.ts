import type { QaEntry, Session } from '../../common/domain/session.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { SessionReaders } from '../conversation/conversation.ts';

/** A question of a session, or the rating of its answer. */
export interface SearchEvent {
  readonly session: Session;
  readonly entry: QaEntry;
  readonly kind: 'search' | 'improve';
}

/** Sessions, used last, that are looked through. */
const SESSIONS = 10;
/** Newest questions of each. */
const QUESTIONS = 20;

/** Returns what the user asked in the newest sessions of a dataset, strictly after the time, oldest first. */
export async function searchEvents(
  { sessions, entries }: Pick<SessionReaders, 'sessions' | 'entries'>,
  { user, dataset, since }: { readonly user: UserId; readonly dataset: DatasetRef; readonly since: string | null },
): Promise<readonly SearchEvent[]> {
  const scope = { tenant: dataset.tenant };
  const used = await sessions.usedLast(scope, { user, dataset: dataset.id, since, limit: SESSIONS });
  const perSession = await Promise.all(
    used.map(async (session) => {
      const asked = await entries.lastQas(scope, session, QUESTIONS);
      return asked.filter(isShown).flatMap((entry): SearchEvent[] => {
        const isRated = entry.feedbackScore !== null || entry.feedbackText !== null;
        const search: SearchEvent = { session, entry, kind: 'search' };
        return isRated ? [search, { ...search, kind: 'improve' }] : [search];
      });
    }),
  );
  return perSession
    .flat()
    .filter(({ entry }) => since === null || Date.parse(entry.time) > Date.parse(since))
    .toSorted((one, other) => Date.parse(one.entry.time) - Date.parse(other.entry.time));
}

/** Forgotten answers have no question any more. */
function isShown({ question, isAcknowledgement }: QaEntry): boolean {
  return question !== '' && isAcknowledgement !== true;
}
