import type { Session } from '../../common/domain/session.ts';
import { isUsable } from '../../common/domain/session-context.ts';
import type { PreferenceProgress, UserPreference } from '../../common/records/improve/preferences.ts';
import type { SessionContexts } from '../../common/records/sessions/session-context.ts';
import type { SessionEntries } from '../../common/records/sessions/session-entries.ts';
import type { ImprovePass } from '../stage.ts';
import { sessionScope } from './each-session.ts';
import { statementsOf } from './statements.ts';

export interface PreferenceLinesDependencies {
  readonly entries: Pick<SessionEntries, 'qasAfter'>;
  readonly contexts: Pick<SessionContexts, 'rows'>;
}

export interface NewLines {
  /** Newest first. */
  readonly lines: readonly string[];
  /** Of the newest context row among them, or the one before. */
  readonly watermark: string | null;
}

const MAX_TEXT = 2_000;
const PAGE = 50;

/**
 * Preferences stated since: usable context rows, and sentences of the new turns that say so by their wording, unless a line
 * says the same already.
 */
export async function newLines(
  deps: PreferenceLinesDependencies,
  pass: ImprovePass,
  {
    steps,
    known,
  }: {
    readonly steps: readonly { readonly session: Session; readonly before: PreferenceProgress }[];
    readonly known: UserPreference;
  },
): Promise<NewLines> {
  const scope = sessionScope(pass);
  const found: { readonly at: string; readonly text: string }[] = [];
  let watermark = known.textWatermark;
  for (const { session, before } of steps) {
    for (const row of await deps.contexts.rows(scope, session)) {
      if (row.section !== 'preferences' || !isUsable(row)) continue;
      if (known.textWatermark !== null && row.createdAt <= known.textWatermark) continue;
      found.push({ at: row.createdAt, text: row.content });
      if (watermark === null || row.createdAt > watermark) watermark = row.createdAt;
    }
    for (let after = before.turns; after < session.qaCount; ) {
      const page = await deps.entries.qasAfter(scope, session, after, PAGE);
      for (const { question, time, number } of page) {
        if (number > session.qaCount) continue;
        const stated = statementsOf(question).filter(({ kind }) => kind === 'preference');
        found.push(...stated.map(({ text }) => ({ at: time, text })));
      }
      after = page.at(-1)?.number ?? session.qaCount;
    }
  }
  const said = new Set(known.text.toLowerCase().split('\n'));
  const newest = found.toSorted((left, right) => (left.at < right.at ? 1 : left.at > right.at ? -1 : 0));
  const lines: string[] = [];
  for (const { text } of newest) {
    if (said.has(text.toLowerCase())) continue;
    said.add(text.toLowerCase());
    lines.push(text);
  }
  return { lines, watermark };
}

/** New lines before old ones; whole lines of the end go when there are too many. */
export function withLines(known: UserPreference, { lines, watermark }: NewLines): UserPreference {
  const all = [...lines, ...known.text.split('\n')].filter((text) => text !== '');
  const kept: string[] = [];
  let length = 0;
  for (const text of all) {
    length += text.length + 1;
    if (length > MAX_TEXT + 1) break;
    kept.push(text);
  }
  return { ...known, text: kept.join('\n'), textWatermark: watermark };
}
