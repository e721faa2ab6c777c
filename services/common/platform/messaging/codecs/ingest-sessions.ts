import * as wire from '../../../../../proto/gen/engram/ingest/v1/ingest_pb.ts';
import type { NewQa } from '../../../domain/session.ts';
import { type MethodCodec, messageCodec, present } from '../codec.ts';
import type * as methods from '../methods/ingest.ts';
import { fromDataset, fromJsonText, toDataset, toJsonText } from './shared.ts';

export const AppendSession: MethodCodec<methods.AppendSessionRequest, methods.AppendSessionResponse> = {
  request: messageCodec(
    wire.AppendSessionRequestSchema,
    ({ session, qaId, datasetId, entry, spending }) => ({
      ...{ session, qaId, datasetId: datasetId ?? undefined, entryJson: JSON.stringify(entry) },
      spending: spending === null ? undefined : spentToWire(spending),
    }),
    ({ session, qaId, datasetId, entryJson, spending }) => ({
      ...{ session, qaId, datasetId: datasetId ?? null },
      entry: fromJsonText(entryJson) as unknown as NewQa,
      spending: spending === undefined ? null : fromSpending(spending),
    }),
  ),
  response: messageCodec(
    wire.AppendSessionResponseSchema,
    ({ stored }) => ({ stored }),
    ({ stored }) => ({ stored }),
  ),
};

function spentToWire({ model, embeddingModel, ...spent }: methods.SessionSpending) {
  return { ...spent, model: model ?? undefined, embeddingModel: embeddingModel ?? undefined };
}

function fromSpending(spending: wire.SessionSpending): methods.SessionSpending {
  const { model, embeddingModel, tokensIn, tokensOut, embeddingTokens } = spending;
  const spent = { tokensIn, tokensOut, embeddingTokens };
  return { model: model ?? null, embeddingModel: embeddingModel ?? null, ...spent };
}

export const NoteOnSession: MethodCodec<methods.NoteOnSessionRequest, methods.NoteOnSessionResponse> = {
  request: messageCodec(
    wire.NoteOnSessionRequestSchema,
    ({ session, notes }) => ({
      session,
      notes: notes.map(({ qaId, memifyMetadata, ofFeedback }) => ({
        ...{ qaId, memifyMetadataJson: toJsonText(memifyMetadata), ofFeedback: ofFeedback ?? undefined },
      })),
    }),
    ({ session, notes }) => ({
      session,
      notes: notes.map(({ qaId, memifyMetadataJson, ofFeedback }) => ({
        ...{ qaId, memifyMetadata: fromJsonText(memifyMetadataJson), ofFeedback: ofFeedback ?? null },
      })),
    }),
  ),
  response: messageCodec(
    wire.NoteOnSessionResponseSchema,
    ({ noted }) => ({ noted }),
    ({ noted }) => ({ noted }),
  ),
};

export const RecordSkillRuns: MethodCodec<methods.RecordSkillRunsRequest, methods.RecordSkillRunsResponse> = {
  request: messageCodec(
    wire.RecordSkillRunsRequestSchema,
    ({ dataset, runs }) => ({ dataset: toDataset(dataset), runsJson: runs.map((run) => JSON.stringify(run)) }),
    ({ dataset, runsJson }) => ({
      dataset: fromDataset(present(dataset, 'dataset')),
      runs: runsJson.map((run) => fromJsonText(run) as unknown as methods.UsedSkill),
    }),
  ),
  response: messageCodec(
    wire.RecordSkillRunsResponseSchema,
    ({ recorded }) => ({ recorded }),
    ({ recorded }) => ({ recorded }),
  ),
};

export const NoteOnTurn: MethodCodec<methods.NoteOnTurnRequest, methods.NoteOnTurnResponse> = {
  request: messageCodec(
    wire.NoteOnTurnRequestSchema,
    ({ session, note }) => ({ session, noteJson: JSON.stringify(note) }),
    ({ session, noteJson }) => ({ session, note: fromJsonText(noteJson) as unknown as methods.TurnNote }),
  ),
  response: messageCodec(
    wire.NoteOnTurnResponseSchema,
    ({ noted }) => ({ noted }),
    ({ noted }) => ({ noted }),
  ),
};
