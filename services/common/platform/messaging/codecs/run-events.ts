import { RunEventKind, RunEventSchema } from '../../../../../proto/gen/engram/events/v1/events_pb.ts';
import type { RunEvent } from '../../../domain/run.ts';
import { enumMapping, messageCodec, present } from '../codec.ts';
import { fromRun, toRun } from './runs.ts';

const kind = enumMapping<RunEvent['kind'], RunEventKind>({
  started: RunEventKind.STARTED,
  progress: RunEventKind.PROGRESS,
  completed: RunEventKind.COMPLETED,
  errored: RunEventKind.ERRORED,
  interrupted: RunEventKind.INTERRUPTED,
});

/** Without the run's items, of which there may be more than a message can carry: `getRun` has them. */
export const runEventCodec = messageCodec(
  RunEventSchema,
  (event: RunEvent) => ({
    kind: kind.toWire(event.kind),
    run: toRun({ ...event.run, items: [] }),
    ...(event.kind === 'progress'
      ? { stage: event.stage, stageIndex: event.stageIndex, stageTotal: event.stageTotal }
      : {}),
    ...(event.kind === 'interrupted' ? { reason: event.reason } : {}),
  }),
  (message): RunEvent => {
    const run = fromRun(present(message.run, 'run'));
    const word = kind.fromWire(message.kind);
    if (word === 'interrupted') return { kind: word, run, reason: message.reason ?? '' };
    if (word !== 'progress') return { kind: word, run };
    const { stage = '', stageIndex, stageTotal } = message;
    return { kind: word, run, stage, stageIndex, stageTotal };
  },
);
