import { expect } from 'chai';
import { STAGE_NAMES } from '../../services/common/domain/improve-stages.ts';
import type { Answer, Wire } from './wire.ts';

export interface WireStage {
  readonly stage: string;
  readonly status: string;
  readonly reason: string | null;
  readonly error: string | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly duration_ms: number;
  readonly run: { readonly status: string; readonly pipeline_run_id: string } | null;
}

/** A session of an agent and its user over HTTP in one dataset, with its improve. */
export interface ImproveSession {
  /** Returns the id of the answer. */
  ask(session: string, question: string, answer: string, more?: object): Promise<string>;
  rate(session: string, answer: string, score: number): Promise<void>;
  steps(session: string, count: number, from?: number): Promise<void>;
  improve(sessions: readonly string[], more?: object): Promise<Answer>;
  /** Returns the texts of the dataset's items from sessions, oldest first. */
  persisted(): Promise<readonly string[]>;
}

export function improveSession(wire: Wire, dataset: string): ImproveSession {
  const remember = async (entry: object, session: string): Promise<string> => {
    const answer = await wire.post('/remember/entry', { entry, session_id: session, dataset_name: dataset });
    expect(answer.status, answer.text).to.equal(200);
    return answer.json.entry_id;
  };
  return {
    ask: (session, question, answer, more = {}) => remember({ type: 'qa', question, answer, ...more }, session),
    async rate(session, qaId, score) {
      await remember({ type: 'feedback', qa_id: qaId, feedback_score: score }, session);
    },
    async steps(session, count, from = 0) {
      for (let step = from; step < from + count; step += 1) {
        const value = { moth: `moth number ${step}` };
        const entry = { type: 'trace', origin_function: `look_${step}`, status: 'success', method_return_value: value };
        await remember(entry, session);
      }
    },
    improve: (sessions, more = {}) => wire.post('/improve', { datasetName: dataset, sessionIds: sessions, ...more }),
    async persisted() {
      const { json } = await wire.get('/datasets');
      const id = (json as { id: string; name: string }[]).find(({ name }) => name === dataset)?.id;
      const items = (await wire.get(`/datasets/${id}/data`)).json as { id: string; name: string }[];
      const own = items.filter(({ name }) => name.startsWith('session ')).toReversed();
      return Promise.all(own.map(async (item) => (await wire.get(`/datasets/${id}/data/${item.id}/raw`)).text));
    },
  };
}

/** The nine stages in order, by name. */
export function stagesOf(stages: readonly WireStage[]): Readonly<Record<string, WireStage>> {
  expect(stages.map(({ stage }) => stage)).to.deep.equal(STAGE_NAMES);
  return Object.fromEntries(stages.map((stage) => [stage.stage, stage]));
}
