import type { SkillProposal, SkillRun, UsedSkill } from '../../common/domain/skill.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { isUuid } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import type { StoredSkill } from '../../common/records/ingest/skills.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';
import type { StoredProposal } from '../repositories/proposals.ts';
import { draftProposal } from './draft-proposal.ts';
import { namedSkill } from './find-skill.ts';
import type { Improvement } from './improvement-options.ts';

export interface RunRequest {
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  /** Id or name. */
  readonly selectedSkill: string;
  readonly run: Omit<SkillRun, 'skill' | 'skillName' | 'user' | 'recordedAt'>;
  readonly improvement: Improvement | null;
  readonly context: CallContext;
}

interface RecordedRun {
  readonly run: SkillRun;
  /** Drafted or applied with it. */
  readonly proposal: SkillProposal | null;
}

/**
 * Records a run, and drafts or applies a proposal with it: one commit, so a request that fails changes nothing. Errors:
 * `InvalidRequestError` for an unknown skill or proposal, `ConflictError` for a proposal whose skill has changed since, those
 * of `draftProposal`.
 */
export async function recordSkillRun(dependencies: IngestDependencies, request: RunRequest): Promise<RecordedRun> {
  const { principal, dataset, improvement, context } = request;
  const selected = await namedSkill(dependencies, dataset, request.selectedSkill);
  const run: SkillRun = {
    ...request.run,
    skill: selected.skill.id,
    skillName: selected.skill.name,
    user: principal.id,
    recordedAt: dependencies.clock.now().toISOString(),
  };
  if (improvement?.kind === 'apply')
    return { run, proposal: await applyProposal(dependencies, request, { ...improvement, run }) };
  const drafted =
    improvement === null
      ? null
      : await draftProposal(dependencies, {
          principal,
          dataset,
          run,
          context,
          options: improvement,
          skill: (await targetOf(dependencies, dataset, { run, improvement })).skill,
        });
  return retryOnConflict(async () => {
    // Both may have been deleted while a model was thinking.
    const present = await namedSkill(dependencies, dataset, run.skill);
    const target = drafted === null ? present : await namedSkill(dependencies, dataset, drafted.skill);
    await dependencies.store.commit(scopeOf(dataset), [
      ...keepWrites(dependencies, [present, target]),
      await dependencies.skillRuns.recordWrite(scopeOf(dataset), run),
      ...(drafted === null ? [] : [dependencies.proposals.insertWrite(drafted)]),
    ]);
    return { run, proposal: drafted };
  });
}

/**
 * Makes the procedure of a proposal that of its skill, and records the run that it comes with, if any, in the same commit.
 * Errors: `InvalidRequestError` for an unknown skill or proposal, `ConflictError` when the skill has changed since.
 */
export async function applyProposal(
  dependencies: IngestDependencies,
  { principal, dataset }: Pick<RunRequest, 'principal' | 'dataset'>,
  wanted: { readonly proposal: string; readonly skill: string | null; readonly run: SkillRun | null },
): Promise<SkillProposal> {
  const { store, skillRuns, audit, clock } = dependencies;
  const { run } = wanted;
  const scope = scopeOf(dataset);
  return retryOnConflict(async () => {
    const present = run === null ? [] : [await namedSkill(dependencies, dataset, run.skill)];
    const stored = isUuid(wanted.proposal) ? await dependencies.proposals.get(scope, wanted.proposal) : null;
    const name = wanted.skill ?? run?.skill ?? stored?.proposal.skill ?? '';
    const target = await namedSkill(dependencies, dataset, name);
    if (stored === null || stored.proposal.skill !== target.skill.id) {
      throw engramError('InvalidRequestError', 'There is no such proposal for the skill.');
    }
    const recorded = run === null ? [] : [await skillRuns.recordWrite(scope, run)];
    // Applied already: the answer of an earlier call was lost.
    if (stored.proposal.status === 'applied' && target.skill.procedure === stored.proposal.proposedProcedure) {
      await store.commit(scope, [...keepWrites(dependencies, [...present, target]), ...recorded]);
      return stored.proposal;
    }
    if (target.skill.procedure !== stored.proposal.oldProcedure) {
      throw engramError('ConflictError', 'The skill has changed since the proposal was drafted; draft a new one.');
    }
    const at = clock.now().toISOString();
    const proposal: SkillProposal = { ...stored.proposal, status: 'applied', appliedAt: at, appliedBy: principal.id };
    const others = keepWrites(
      dependencies,
      present.filter(({ skill }) => skill.id !== target.skill.id),
    );
    const applied = await appliedWrites(dependencies, dataset, { target, stored, proposal });
    await audit.commit(scope, [...applied, ...others, ...recorded], [application(dataset, principal, proposal)]);
    return proposal;
  });
}

async function appliedWrites(
  { skills, proposals, ids }: IngestDependencies,
  dataset: DatasetRef,
  change: { readonly target: StoredSkill; readonly stored: StoredProposal; readonly proposal: SkillProposal },
): Promise<readonly Write[]> {
  const { target, stored, proposal } = change;
  const { proposedProcedure: procedure, appliedAt } = proposal;
  const skill = { ...target.skill, procedure, updatedAt: appliedAt ?? target.skill.updatedAt };
  const shelf = await skills.shelf(scopeOf(dataset));
  return [...skills.storeWrites(shelf, ids.uuid(), [{ skill, was: target }]), proposals.replaceWrite(stored, proposal)];
}

/** The skill that is to become better: the one named, else that of the run. */
function targetOf(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  { run, improvement }: { readonly run: SkillRun; readonly improvement: Improvement },
): Promise<StoredSkill> {
  return namedSkill(dependencies, dataset, improvement.skill ?? run.skill);
}

/** The commit fails when one of the skills is gone by then, so nothing is left of a skill that was deleted. */
function keepWrites({ skills }: IngestDependencies, present: readonly StoredSkill[]): readonly Write[] {
  return [...new Set(present.map(({ skill }) => skill.id))].map((id) => skills.keepWrite(id));
}

function application(dataset: DatasetRef, principal: Principal, proposal: SkillProposal): AuditEntry {
  const details = { dataset: dataset.id, skill: proposal.skill };
  return { tenant: dataset.tenant, action: 'proposal.applied', actor: principal.id, subject: proposal.id, details };
}

/** Score of a run without a judgement. */
const UNJUDGED = 0.5;

/** Runs of skills that an agent of search opened. Those of skills that are gone are passed over; how many were kept. */
export async function recordUsedSkills(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  runs: readonly UsedSkill[],
  { principal, context }: { readonly principal: Principal; readonly context: CallContext },
): Promise<number> {
  let recorded = 0;
  for (const { skill, ...used } of runs) {
    const run = {
      ...used,
      runId: dependencies.ids.uuid(),
      successScore: UNJUDGED,
      feedback: 0,
      errorType: '',
      errorMessage: '',
      taskPatternId: '',
      routerVersion: '',
      nodeSet: 'skills',
    };
    try {
      const request = { principal, dataset, context, selectedSkill: skill, run, improvement: null };
      await recordSkillRun(dependencies, request);
      recorded += 1;
    } catch (error) {
      if (!isEngramError(error) || error.wireName !== 'InvalidRequestError') throw error;
    }
  }
  return recorded;
}
