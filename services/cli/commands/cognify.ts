import { setTimeout as sleep } from 'node:timers/promises';
import type { PipelineRunInfo, PipelineRunStatusWithProgress } from '../../client/index.ts';
import { type Command, type CommandCall, isSet, stringList, stringOption } from '../command.ts';
import { failedAmong, noteFailed, readItemStatus } from '../failed-items.ts';
import { note, print, printJson } from '../output.ts';
import { createProgress } from '../progress.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { findDataset } from '../wire.ts';
import { ONTOLOGY_OPTION } from './ontologies.ts';

const POLL_MS = 250;

export const cognifyCommand: Command = {
  name: 'cognify',
  usage: '',
  summary: 'Builds the knowledge graph of a dataset and shows how far it is.',
  options: {
    'no-wait': { type: 'boolean', meaning: 'return at once; ask later with engram status' },
    ontology: ONTOLOGY_OPTION,
    'chunk-size': {
      type: 'string',
      value: 'TOKENS',
      meaning: 'greatest size of a chunk, default chosen by the server',
    },
  },
  run: (call) => {
    if (call.arguments.length > 0) throw usageFailure('cognify takes no arguments; name the dataset with --dataset');
    return runCognify(call, { wait: !isSet(call.options, 'no-wait') });
  },
};

/** Starts a run and follows it to its end; the run goes on when this client is stopped. */
export async function runCognify(call: CommandCall, { wait }: { readonly wait: boolean }): Promise<number> {
  const size = stringOption(call.options, 'chunk-size');
  if (size !== null && !/^\d{1,6}$/.test(size)) throw usageFailure('--chunk-size needs a number of tokens');
  const ontologies = stringList(call.options, 'ontology');
  // The server would make a dataset of a mistyped name.
  const { id, name } = await findDataset(call.api, call.dataset);
  const body = {
    dataset_ids: [id],
    run_in_background: true,
    ...(size === null ? {} : { chunk_size: Number(size) }),
    ...(ontologies.length === 0 ? {} : { ontology_key: ontologies }),
  };
  const answer = await call.api.json<Readonly<Record<string, PipelineRunInfo>>>('POST', '/api/v1/cognify', { body });
  const [started] = Object.values(answer);
  if (started === undefined) throw new CliFailure('The server started no run.', exitCodes.failed);
  if (!wait) {
    if (call.asJson) printJson(call, answer);
    else print(call, `run ${started.pipeline_run_id} started for ${name}`);
    return exitCodes.ok;
  }
  const startedAt = Date.now();
  const { status, error } = await follow(call, { id, name });
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
  const isDone = status === 'DATASET_PROCESSING_COMPLETED';
  // A run that is done may have left items out, and names its error then, too.
  const failed = error === undefined ? [] : failedAmong(await readItemStatus(call, { id }));
  if (call.asJson)
    printJson(call, {
      dataset_id: id,
      pipeline_run_id: started.pipeline_run_id,
      status,
      ...(error && { error }),
      ...(failed.length > 0 && { failed }),
    });
  else if (isDone) print(call, `${name} is ready (${seconds} s)`);
  if (!isDone)
    note(
      call,
      `engram: the run of ${name} failed: ${error ?? 'the log of the server says why'} (run ${started.pipeline_run_id})`,
    );
  if (failed.length > 0) noteFailed(call, name, failed);
  return isDone && failed.length === 0 ? exitCodes.ok : exitCodes.failed;
}

async function follow(call: CommandCall, { id, name }: { readonly id: string; readonly name: string }) {
  let total = 1;
  const progress = createProgress(call.terminal, 'Cognify', {
    total,
    unit: 'items',
    whenInterrupted: () => `The server goes on. See how far it is: engram status -d ${name}`,
  });
  try {
    for (;;) {
      const all = await call.api.json<Readonly<Record<string, PipelineRunStatusWithProgress>>>(
        'GET',
        '/api/v1/datasets/status/progress',
        { query: { dataset: id } },
      );
      const state = all[id];
      if (state !== undefined && /_(COMPLETED|ERRORED)$/.test(state.status)) {
        if (state.status.endsWith('_COMPLETED')) progress.update(total, 'done');
        return state;
      }
      total = state?.progress?.total_items ?? total;
      progress.setTotal(total);
      progress.update(state?.progress?.completed_items ?? 0, stageOf(state), partOf(state));
      await sleep(POLL_MS);
    }
  } finally {
    progress.stop();
  }
}

function stageOf(state: PipelineRunStatusWithProgress | undefined): string {
  const { chunks, progress } = state ?? {};
  if (chunks !== undefined) return `${chunks.completed}/${chunks.total} chunks`;
  return (progress?.current_stage ?? '').replaceAll('_', ' ');
}

function partOf(state: PipelineRunStatusWithProgress | undefined): number {
  const { chunks } = state ?? {};
  return chunks === undefined ? 0 : chunks.completed / chunks.total;
}
