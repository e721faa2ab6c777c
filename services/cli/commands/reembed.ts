import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../../client/index.ts';
import { type Command, type CommandCall, stringOption } from '../command.ts';
import { print, printJson } from '../output.ts';
import { createProgress } from '../progress.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { findDataset } from '../wire.ts';

const ASK_AGAIN_MS = 500;

export const reembedCommand: Command = {
  name: 'reembed',
  usage: '[<dataset>] [--model NAME]',
  summary: "Makes a dataset's vectors anew with another embedding model that the server has.",
  details: `Without --model with the one that new datasets get. The former vectors are searched until the new ones are whole. When you
stop this command it goes on where it was as soon as you give it again.`,
  options: {
    model: { type: 'string', value: 'NAME', meaning: 'for example builtin/hashing-v1, which every server has' },
  },
  async run(call) {
    const [given, ...more] = call.arguments;
    if (more.length > 0) throw usageFailure('Give one dataset: engram reembed <dataset>');
    const dataset = await findDataset(call.api, given ?? call.dataset);
    const state = await move(call, dataset.id);
    const { embedding } = state;
    if (call.asJson) printJson(call, state);
    else if (embedding === null) print(call, `${dataset.name} has no vectors yet`);
    else print(call, `${dataset.name} has vectors of ${embedding.model} with ${embedding.dimensions} dimensions`);
    return exitCodes.ok;
  },
};

type EmbeddingInfo = Answer<'/api/v1/datasets/embedding/{dataset_id}', 'put'>;

async function move(call: CommandCall, dataset: string): Promise<EmbeddingInfo> {
  const body = { model: stringOption(call.options, 'model') };
  const progress = createProgress(call.terminal, 'Embedding', {
    total: 1,
    unit: 'items',
    whenInterrupted: () => 'The vectors so far are kept. To go on, give the same command again.',
  });
  try {
    for (;;) {
      const state = await call.api.json<EmbeddingInfo>('PUT', `/api/v1/datasets/embedding/${dataset}`, { body });
      const { migration, failure } = state;
      if (failure !== null) throw new CliFailure(`${failure.message} [${failure.name}]`, exitCodes.failed);
      if (migration === null) return state;
      progress.setTotal(Math.max(1, migration.total));
      progress.update(migration.done, '');
      await sleep(ASK_AGAIN_MS);
    }
  } finally {
    progress.stop();
  }
}
