import { sha256OfJson } from '../../../services/common/kernel/hashes.ts';
import { type JsonObject, parseJson } from '../../../services/common/kernel/json.ts';
import { isRecord } from '../../../services/common/kernel/objects.ts';
import type { AnswerOf } from '../../../services/common/platform/messaging/messages.ts';
import type { DatasetGraphModel, DatasetPrompt } from '../../api/dataset.ts';
import { durationMs } from '../../api/values.ts';
import type { ConditionDraft } from '../../kube-runtime/conditions.ts';
import { type ConfigMap, KINDS } from '../../kube-runtime/kube-object.ts';
import { done, StepFailure, stalled } from '../../kube-runtime/steps.ts';
import { type DatasetContext, type DatasetParts, type DatasetStep, idsOf, stateOf, uidOf } from '../model.ts';
import { askAbout } from '../service-failure.ts';

/** A ConfigMap that is not watched, because there are too many, is read again after this time. */
const CONFIG_MAP_AGAIN_MS = 60_000;

/** Sets the graph model, prompt and chunking of the dataset, which runs use by default. */
export function configure(parts: DatasetParts): DatasetStep {
  const { client, memory } = parts;
  const read = (context: DatasetContext, field: string, source: DatasetGraphModel | DatasetPrompt | undefined) =>
    textOf(client, context, { field, source });
  return {
    name: 'configure',
    async run(context) {
      const { object } = context;
      const { spec } = object;
      const ids = idsOf(context);
      const [modelText, prompt] = await Promise.all([
        read(context, 'graphModel', spec.graphModel),
        read(context, 'prompt', spec.prompt),
      ]);
      const watched = [spec.graphModel, spec.prompt].some((source) => source?.configMapRef !== undefined);
      const again = watched ? { requeueAfterMs: CONFIG_MAP_AGAIN_MS } : {};
      const [uid, state] = [uidOf(object), `${stateOf(object)} ${ids.datasetId} ${sha256OfJson([modelText, prompt])}`];
      if (memory.configuration.holds(uid, state)) return done(again);
      const graphModel = modelText === undefined ? undefined : parsedModel(modelText);
      const request = {
        ...ids,
        crUid: uid,
        ...(graphModel === undefined ? {} : { graphModel }),
        ...(prompt === undefined ? {} : { prompt }),
        ...(spec.chunking === undefined ? {} : { chunking: spec.chunking }),
      };
      const answer = await askAbout(parts, context, 'cognify.SetDatasetConfiguration', request);
      // The end of a drift, or a new language model, triggers no reconcile: ask again next time.
      if (!answer.drifted && answer.unused === null) memory.configuration.remember(uid, state);
      return done({
        ...again,
        conditions: [schemaCondition(answer)],
        status: {
          graphModelHash: answer.graphModelHash ?? undefined,
          promptHash: answer.promptHash ?? undefined,
        },
      });
    },
  };
}

function schemaCondition({ drifted, unused }: AnswerOf<'cognify.SetDatasetConfiguration'>): ConditionDraft {
  if (unused !== null) return { type: 'SchemaCurrent', status: 'False', reason: 'NoLanguageModel', message: unused };
  if (!drifted) {
    const message = 'The memory was built with the declared model, prompt and chunking';
    return { type: 'SchemaCurrent', status: 'True', reason: 'Current', message };
  }
  const message =
    'Data was built with another model, prompt or chunking: forget its memory and cognify it to rebuild it';
  return { type: 'SchemaCurrent', status: 'False', reason: 'SchemaDrifted', message };
}

async function textOf(
  client: DatasetParts['client'],
  { object, signal }: DatasetContext,
  { field, source }: { readonly field: string; readonly source: DatasetGraphModel | DatasetPrompt | undefined },
): Promise<string | undefined> {
  if (source?.configMapRef === undefined) return source?.inline;
  const { name, key } = source.configMapRef;
  const { namespace = '' } = object.metadata;
  const held = await client.get<ConfigMap>(KINDS.configMap, { name, namespace }, { signal });
  const text = held?.data?.[key];
  if (text !== undefined) return text;
  const what = held === null ? `There is no ConfigMap ${name}` : `ConfigMap ${name} has no key ${key}`;
  throw unusable('ConfigMapMissing', `${what} for spec.${field}: create it, or correct the reference`);
}

function parsedModel(text: string): JsonObject {
  const parsed = parseJson(text);
  if (isRecord(parsed)) return parsed as JsonObject;
  // The text is not quoted, as JSON.parse does.
  throw unusable('InvalidSpec', 'graphModel is not a JSON object: correct its text');
}

/** Fails the step; the previous configuration stays in use. */
function unusable(reason: string, message: string): StepFailure {
  const conditions: ConditionDraft[] = [{ type: 'SchemaCurrent', status: 'False', reason, message }];
  return new StepFailure(
    stalled(reason, message, { conditions, requeueAfterMs: CONFIG_MAP_AGAIN_MS, continues: true }),
  );
}

/** Sets the retention of the dataset's items. */
export function syncRetention(parts: DatasetParts): DatasetStep {
  const { memory } = parts;
  return {
    name: 'sync-retention',
    async run(context) {
      const { object } = context;
      const ids = idsOf(context);
      const [uid, state] = [uidOf(object), `${stateOf(object)} ${ids.datasetId}`];
      if (memory.retention.holds(uid, state)) return done();
      const { itemTTL } = object.spec.retention ?? {};
      const times = itemTTL === undefined ? {} : { itemsMs: durationMs(itemTTL) };
      await askAbout(parts, context, 'ingest.SetRetention', { ...ids, crUid: uid, ...times });
      memory.retention.remember(uid, state);
      return done();
    },
  };
}
