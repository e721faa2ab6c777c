import { ModelSettingsChangedSchema } from '../../../../../proto/gen/engram/events/v1/events_pb.ts';
import { messageCodec } from '../codec.ts';

export const modelSettingsChangedCodec = messageCodec(
  ModelSettingsChangedSchema,
  () => ({}),
  (): Record<string, never> => ({}),
);
