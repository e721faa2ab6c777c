import type { Session } from '../../common/domain/session.ts';
import type { PlannedWindow, Watermark, WatermarkPurpose } from '../../common/records/improve/watermarks.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass } from '../model.ts';
import { sessionsOf, watermarksOf } from '../pass-sessions.ts';

type Dependencies = Pick<ImproveDependencies, 'sessions' | 'watermarks' | 'store'>;

/** Entries of one kind of one session that are not in the memory of a dataset yet. */
export interface Backlog {
  readonly session: Session;
  readonly watermark: Watermark;
  /** Number of the last entry that is in memory, or gone. */
  readonly from: number;
  /** Number of the last entry when the stage began; later ones wait for the next improve. */
  readonly to: number;
}

type PersistedKind = Extract<WatermarkPurpose, 'session_qa' | 'agent_traces'>;

/** Returns the backlog of each session of the pass that has one, in the order of the pass. */
export async function backlogsOf(
  deps: Dependencies,
  pass: ImprovePass,
  kind: PersistedKind,
): Promise<readonly Backlog[]> {
  const [found, watermarks] = await Promise.all([sessionsOf(deps, pass), watermarksOf(deps, pass)]);
  const backlogs = found.map((session) => {
    const watermark = watermarks(session, kind);
    const [to, expired] =
      kind === 'session_qa' ? [session.qaCount, session.expired.qas] : [session.traceCount, session.expired.traces];
    return { session, watermark, from: Math.max(watermark.done, expired), to };
  });
  return backlogs.filter(({ from, to }) => to > from);
}

/**
 * Returns the next window of entries: one that was planned and not completed, else one up to the entry that `choose` returns,
 * stored as planned. So a repeated window has the same entries and the same key, whatever was added meanwhile.
 */
export async function planWindow(
  { watermarks, store }: Dependencies,
  pass: ImprovePass,
  { watermark, from }: Backlog,
  choose: () => Promise<number>,
): Promise<{ readonly window: PlannedWindow; readonly watermark: Watermark }> {
  const { window } = watermark;
  if (window !== null && window.to > from) return { window, watermark };
  const planned = { window: { from, to: await choose() } };
  await store.commit({ tenant: pass.principal.tenant }, [watermarks.moveWrite(watermark, planned)]);
  return { window: planned.window, watermark: watermarks.moved(watermark, planned) };
}

/** Records that the window is in memory; returns the rest of the backlog. */
export async function completeWindow(
  { watermarks, store }: Dependencies,
  pass: ImprovePass,
  backlog: Backlog,
  { window, watermark }: { readonly window: PlannedWindow; readonly watermark: Watermark },
): Promise<Backlog> {
  const move = { done: window.to, window: null };
  await store.commit({ tenant: pass.principal.tenant }, [watermarks.moveWrite(watermark, move)]);
  return { ...backlog, watermark: watermarks.moved(watermark, move), from: window.to };
}

/** Makes the file name of a document from a session. A session may have any name; a slash would end a folder's name. */
export function sessionFileName(session: string, content: string): string {
  return `session ${session.replaceAll(/[\\/]/g, '_')} ${content}.txt`;
}
