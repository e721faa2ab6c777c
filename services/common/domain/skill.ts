import type { DatasetId } from '../kernel/brand.ts';
import { sha256 } from '../kernel/hashes.ts';
import { uuid5 } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';

/** Front matter of a skill; missing texts are ''. */
export interface SkillText {
  readonly name: string;
  readonly description: string;
  readonly maintainer: string;
  readonly maintainerUrl: string;
  readonly version: string;
  readonly license: string;
  readonly sourceRepoUrl: string;
  readonly tags: readonly string[];
  readonly declaredTools: readonly string[];
  /** Inactive skills are kept, and found on request only. */
  readonly isActive: boolean;
  /** Procedure, in Markdown. */
  readonly procedure: string;
}

/** A procedure that agents follow for a kind of task; it belongs to one dataset. Times are ISO-8601 with offset. */
export interface Skill extends SkillText {
  readonly id: string;
  /** Virtual: no folder of any machine. */
  readonly sourceDir: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** RFC 4122 name space for URLs. */
const URL_NAMESPACE = '6ba7b811-9dad-11d1-80b4-00c04fd430c8';

/** The same name from the same place in the same dataset is the same skill (ingest.md §7.1). */
export function skillId(dataset: DatasetId, sourceDir: string, name: string): string {
  return uuid5(URL_NAMESPACE, `cognee:skill:${dataset}:${sourceDir}:${name}`);
}

/** Place of skills that came as texts and uploads; `folder` is relative, with `/`. */
export function virtualSourceDir(dataset: DatasetId, folder: string): string {
  return `cognee-skills-${sha256(dataset).slice(0, 16)}/${folder}`;
}

/** One step of a run. */
export interface ToolCall {
  readonly toolName: string;
  readonly toolInput: Json;
  readonly toolOutput: string | null;
  readonly success: boolean;
  readonly durationMs: number;
}

/** One use of a skill, and how it went. */
export interface SkillRun {
  /** Chosen by the caller, or made for it. */
  readonly runId: string;
  readonly skill: string;
  readonly skillName: string;
  readonly taskText: string;
  readonly resultSummary: string;
  /** 0 to 1. */
  readonly successScore: number;
  /** −1 to 1. */
  readonly feedback: number;
  readonly errorType: string;
  readonly errorMessage: string;
  /** Epoch milliseconds by the caller's clock; 0: unknown. */
  readonly startedAtMs: number;
  readonly latencyMs: number;
  readonly candidateSkillIds: readonly string[];
  readonly taskPatternId: string;
  readonly routerVersion: string;
  readonly toolTrace: readonly ToolCall[];
  readonly nodeSet: string;
  readonly session: string | null;
  readonly user: string;
  readonly recordedAt: string;
}

/** A run with an error, or one that scored below the threshold. */
export function isFailing(run: SkillRun, threshold: number) {
  return hasError(run) || run.successScore < threshold;
}

export function hasError({ errorType, errorMessage }: SkillRun): boolean {
  return errorType.trim() !== '' || errorMessage.trim() !== '';
}

/** Newest first, by the callers' clocks, then by ours. */
export function compareRuns(one: SkillRun, other: SkillRun): number {
  if (one.startedAtMs !== other.startedAtMs) return other.startedAtMs - one.startedAtMs;
  if (one.recordedAt !== other.recordedAt) return one.recordedAt < other.recordedAt ? 1 : -1;
  return one.runId < other.runId ? 1 : one.runId > other.runId ? -1 : 0;
}

/** A better procedure for a skill, made from what its runs taught; it changes nothing until it is applied. */
export interface SkillProposal {
  readonly id: string;
  readonly skill: string;
  readonly skillName: string;
  readonly status: 'proposed' | 'applied';
  /** 0 to 1. */
  readonly confidence: number;
  readonly rationale: string;
  readonly modelName: string;
  /** Procedure that the proposal was made from, and that an applied one replaced. */
  readonly oldProcedure: string;
  readonly proposedProcedure: string;
  /** Newest first. */
  readonly runsUsed: readonly string[];
  readonly createdAt: string;
  readonly appliedAt: string | null;
  readonly appliedBy: string | null;
}

/** Use of a skill by an agent of search. */
export type UsedSkill = Pick<
  SkillRun,
  'skill' | 'taskText' | 'resultSummary' | 'startedAtMs' | 'latencyMs' | 'candidateSkillIds' | 'toolTrace' | 'session'
>;
