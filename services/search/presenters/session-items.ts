import { presentQa, presentTrace } from '../../common/presenters/session-rows.ts';
import type { SessionFinding } from '../lanes/session-lanes.ts';

/** Items of the session lanes, field for field as stored (search-recall.md §6.4). */
export function presentSessionFinding(finding: SessionFinding, explain: boolean): readonly object[] {
  const { session } = finding;
  const origin = {
    lane: finding.lane,
    session_id: session.session,
    user_id: session.user,
    dataset_id: session.dataset,
  };
  if (finding.lane === 'session_context') {
    const { guidance, profile } = finding;
    const why = explain ? { explain: { ...origin, context_ids: guidance.ids } } : {};
    return [{ source: 'session_context', content: guidance.text, context_profile: profile, ...why }];
  }
  const why = (overlap: number) => (explain ? { explain: { ...origin, overlap, unread: finding.unread } } : {});
  return finding.lane === 'session'
    ? finding.found.map(({ entry, overlap }) => ({ source: 'session', ...presentQa(entry), ...why(overlap) }))
    : finding.found.map(({ entry, overlap }) => ({ source: 'trace', ...presentTrace(entry), ...why(overlap) }));
}
