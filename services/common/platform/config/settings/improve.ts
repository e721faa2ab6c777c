import { FATAL_STAGE, STAGE_NAMES, type StageName } from '../../../domain/improve-stages.ts';
import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { flag, setting } = rowsOf('Improve');

export const improve = {
  improveFeedbackAlpha: setting('IMPROVE_FEEDBACK_ALPHA', {
    type: type.number({ min: 0, max: 1 }).refine((alpha) => alpha > 0, 'must be greater than 0 and at most 1'),
    default: '0.1',
    meaning: 'How far one rating of an answer moves the weights of what it used, when a request does not say.',
  }),
  improveStagesDisabled: setting('IMPROVE_STAGES_DISABLED', {
    type: disabledStages(),
    default: '',
    meaning: `Stages that are skipped, as a comma list; any but ${FATAL_STAGE}.`,
  }),
  improveAutoEnabled: flag(
    'IMPROVE_AUTO_ENABLED',
    'true',
    'What is remembered in a session is improved into its dataset without being asked.',
  ),
  improveDebounceEntries: setting('IMPROVE_DEBOUNCE_ENTRIES', {
    type: type.integer({ min: 0 }),
    default: '1',
    meaning: 'New entries of a session after which that happens.',
  }),
  improveDebounceMs: setting('IMPROVE_DEBOUNCE_SECONDS', {
    type: type.secondsAsMs({ min: 0, max: 30 * 86_400 }),
    default: '0',
    meaning:
      'Seconds after which it happens even if there are fewer; 0 = never. With seconds set and the entries left at 1, only the time counts.',
  }),
  improveTraceWindowSteps: setting('IMPROVE_TRACE_WINDOW_STEPS', {
    type: type.integer({ min: 0 }),
    default: '30',
    meaning: 'Greatest number of agent steps that become one document; 0 = all that wait.',
  }),
  improveTraceWindowsPerRun: setting('IMPROVE_TRACE_WINDOWS_PER_RUN', {
    type: type.integer({ min: 0 }),
    default: '10',
    meaning: 'Such documents per improve, over all of its sessions; the rest waits for the next. 0 = no limit.',
  }),
  improveDistillMaxBatches: setting('IMPROVE_DISTILL_MAX_BATCHES_PER_RUN', {
    type: type.integer({ min: 0 }),
    default: '0',
    meaning: 'Model calls that distil one session in one improve; 0 = as many as it takes.',
  }),
  tripletEmbedding: flag(
    'TRIPLET_EMBEDDING',
    'false',
    'Improve makes a text with a vector of every edge of the graph, for TRIPLET_COMPLETION.',
  ),
};

function disabledStages() {
  return type.list().transform((names, context): readonly StageName[] => {
    const stages = STAGE_NAMES.filter((name) => name !== FATAL_STAGE);
    const wrong = names.find((name) => !(stages as readonly string[]).includes(name));
    if (wrong === undefined) return stages.filter((name) => names.includes(name));
    context.addIssue({ code: 'custom', message: `must list stages of ${stages.join(', ')}` });
    return [];
  });
}

/** Settings of what is learned about users and answers, and of its weight in later answers. */
export const learning = {
  defaultFeedbackInfluence: setting('DEFAULT_FEEDBACK_INFLUENCE', {
    type: type.number({ min: 0, max: 1 }),
    default: '0.0',
    meaning:
      'How much ratings of earlier answers move the passages and statements that those were made from, when a request does not say: 0 = not at all, 1 = up to twice as high, or down to nothing.',
  }),
  personalizationEnabled: flag(
    'PERSONALIZATION_ENABLED',
    'false',
    'Improve learns what each user prefers, and searches of one dataset put that first.',
  ),
  personalizationInfluence: setting('PERSONALIZATION_INFLUENCE', {
    type: type.number({ min: 0, max: 1 }),
    default: '0.3',
    meaning: 'How much a full preference moves a passage or statement: 0.3 = by 30 % of its score.',
  }),
  preferenceAlpha: setting('PREFERENCE_ALPHA', {
    type: type.number({ min: 0, max: 1 }).refine((alpha) => alpha > 0, 'must be greater than 0 and at most 1'),
    default: '0.3',
    meaning: 'How far one rating moves a preference.',
  }),
  preferenceBeta: setting('PREFERENCE_BETA', {
    type: type.number({ min: 0, max: 1 }).refine((beta) => beta < 1, 'must be at least 0 and less than 1'),
    default: '0.02',
    meaning: 'What a preference loses with each turn of its user.',
  }),
};
