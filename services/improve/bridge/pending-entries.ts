import type { Session } from '../../common/domain/session.ts';
import type { PlannedWindow, Watermark, WatermarkPurpose } from '../../common/records/improve/watermarks.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass } from '../stage.ts';
import { sessionsOf, watermarksOf } from './pass-sessions.ts';

type Dependencies = Pick<ImproveDependencies, 'sessions' | 'watermarks' | 'store'>;

/** Entries of one kind of one session that are not in the memory of a dataset yet. */
export interface Backlog {
  readonly session: Session;
  readonly watermark: Watermark;
  /** Entries up to it are in memory, or gone. */
  readonly from: number;
  /** What there was when the stage began: what comes later waits for the next improve. */
  readonly to: number;
}

export type BridgedKind = Extract<WatermarkPurpose, 'session_qa' | 'agent_traces'>;

/** Of the sessions that have any, in the order of the pass. A session that is not there has none. */
export async function backlogsOf(
  deps: Dependencies,
  pass: ImprovePass,
  kind: BridgedKind,
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
 * The window to work on next: the one that somebody planned and did not end, else the entries up to `to`, planned durably
 * now. So whoever repeats a window repeats it with the same entries, under the same key, whatever came meanwhile.
 */
export async function plannedWindow(
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

/** What is left when the window is in memory. */
export async function windowDone(
  { watermarks, store }: Dependencies,
  pass: ImprovePass,
  backlog: Backlog,
  { window, watermark }: { readonly window: PlannedWindow; readonly watermark: Watermark },
): Promise<Backlog> {
  const move = { done: window.to, window: null };
  await store.commit({ tenant: pass.principal.tenant }, [watermarks.moveWrite(watermark, move)]);
  return { ...backlog, watermark: watermarks.moved(watermark, move), from: window.to };
}
