import type { SkillRun } from '../../common/domain/skill.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { packPassages } from '../answers/contexts.ts';
import { labelOfPassage } from '../answers/source-label.ts';
import type { FoundSkill, RankedPassage, SearchRequest } from '../model.ts';
import type { InfluenceOptions } from '../retrieval/learned-weights.ts';
import { embedQuery, retrievePassages } from '../retrieval/retrieve-passages.ts';
import { skillsText, suggestedSkills } from './skills.ts';
import type { TypeDependencies } from './target.ts';

/** Arguments of all tools; each tool uses some. */
interface ToolArguments {
  readonly name: string | null;
  readonly query: string | null;
  readonly top_k: number | null;
}

interface Tool {
  readonly name: ToolName;
  /** Permission on the dataset that each call needs. */
  readonly permission: 'read';
  readonly description: string;
  readonly arguments: readonly (keyof ToolArguments)[];
}

/** A tool call as recorded with the run of a skill. */
type RecordedCall = SkillRun['toolTrace'][number];
type ToolName = 'load_skill' | 'memory_search';

const TOOLS: readonly Tool[] = [
  {
    name: 'load_skill',
    permission: 'read',
    description: 'Opens a skill of the list: answers how its task is done.',
    arguments: ['name'],
  },
  {
    name: 'memory_search',
    permission: 'read',
    description: 'Looks in the memory of the dataset for passages about something else than the question.',
    arguments: ['query', 'top_k'],
  },
];

/** Maximum characters of tool results. */
const MAX_OUTPUT = 8_000;
const MAX_PROCEDURE = 12_000;
const DEFAULT_PASSAGES = 5;
const MAX_PASSAGES = 20;

interface ToolCall {
  readonly toolName: string;
  readonly arguments: ToolArguments;
}

interface ToolResult {
  readonly text: string;
  readonly success: boolean;
}

function failed(reason: string): ToolResult {
  return { text: `Error: ${reason}`, success: false };
}

/** Read-only tools of an agent over one dataset. */
export type Toolbox = Awaited<ReturnType<typeof openToolbox>>;

/** Creates the toolbox with the skills and tools that the request allows. */
export async function openToolbox(
  deps: TypeDependencies,
  request: SearchRequest,
  { dataset, influence }: { readonly dataset: DatasetRef; readonly influence: InfluenceOptions },
) {
  const skills = await skillsFor(deps, request, dataset);
  const tools = toolsFor(request.agent?.tools ?? null, skills);
  const found = new Map<string, RankedPassage>();
  const opened = new Set<string>();
  const calls: RecordedCall[] = [];
  const run: Readonly<Record<ToolName, (given: ToolArguments) => Promise<ToolResult>>> = {
    async load_skill({ name }) {
      const wanted = skills.find(({ skill }) => skill.name.toLowerCase() === name?.trim().toLowerCase());
      const procedure = wanted && (await deps.skills.procedure(scopeOf(dataset), wanted.skill.id));
      if (!wanted || !procedure) return failed(`there is no skill named '${name ?? ''}'.`);
      opened.add(wanted.skill.id);
      return { text: procedure.slice(0, MAX_PROCEDURE), success: true };
    },
    async memory_search({ query, top_k }) {
      if (!query?.trim()) return failed('memory_search needs a query.');
      const asked = { ...request, query };
      const limit = Math.min(Math.max(top_k ?? DEFAULT_PASSAGES, 1), MAX_PASSAGES);
      const vector = await embedQuery(deps, asked).of(dataset);
      const { passages } = await retrievePassages(deps, asked, {
        dataset,
        vector,
        limit,
        influence,
        isForPassages: true,
      });
      const packed = packPassages(passages, MAX_OUTPUT);
      for (const passage of packed) found.set(passage.id, passage);
      const texts = packed.map(({ payload }) => `[${labelOfPassage(payload)}] ${payload.text}`);
      return { text: texts.join('\n\n').slice(0, MAX_OUTPUT) || 'Nothing in memory fits.', success: true };
    },
  };
  const outputOf = async ({ toolName, arguments: given }: ToolCall): Promise<ToolResult> => {
    const tool = tools.find(({ name }) => name === toolName);
    if (tool === undefined) return failed(`there is no tool named '${toolName}'.`);
    try {
      await requirePermission(deps, request, dataset, tool);
      return await run[tool.name](given);
    } catch (error) {
      if (!isEngramError(error) || error.status === 402 || error.status === 429) throw error;
      return failed(error.detail);
    }
  };
  return {
    skills,
    /** Description of the skills and tools for a prompt; never empty. */
    catalogue: catalogueOf(skills, tools),
    /** Runs a tool. A failure is returned as text that begins with `Error:`; budget errors are thrown. */
    async call(call: ToolCall) {
      const startedMs = deps.clock.monotonicMs();
      const { text, success } = await outputOf(call);
      // Queries and results are omitted: they contain memory, which may be forgotten.
      const facts = { toolInput: { name: call.arguments.name }, toolOutput: success ? null : text, success };
      calls.push({ toolName: call.toolName, ...facts, durationMs: Math.round(deps.clock.monotonicMs() - startedMs) });
      return text;
    },
    /** Returns the passages that calls have found so far. */
    found: (): readonly RankedPassage[] => [...found.values()],
    /** Returns the opened skills and all calls. */
    trace: (): { readonly opened: readonly string[]; readonly calls: readonly RecordedCall[] } => ({
      opened: [...opened],
      calls,
    }),
  };
}

/** Returns the named skills in that order; without names the suggested ones. */
async function skillsFor(
  deps: TypeDependencies,
  { agent, query }: SearchRequest,
  dataset: DatasetRef,
): Promise<readonly FoundSkill[]> {
  const names = agent?.skills ?? null;
  if (names === null) return suggestedSkills(deps, dataset, query);
  const active = await deps.skills.find(scopeOf(dataset), query);
  const byName = new Map(active.toReversed().map((found) => [found.skill.name.toLowerCase(), found]));
  const wanted = [...new Set(names.map((name) => name.trim().toLowerCase()))];
  const missing = wanted.filter((name) => !byName.has(name));
  if (missing.length > 0)
    deps.logger.warn('search.agent.skills.unknown', { datasetId: dataset.id, skills: missing.length });
  return wanted.flatMap((name) => byName.get(name) ?? []);
}

/** Returns the allowed tools; with skills only `load_skill` and the tools that the skills declare. */
function toolsFor(allowed: readonly string[] | null, skills: readonly FoundSkill[]): readonly Tool[] {
  const declared = new Set(skills.flatMap(({ skill }) => skill.declaredTools));
  return TOOLS.filter(({ name }) => {
    if (name === 'load_skill' ? skills.length === 0 : skills.length > 0 && !declared.has(name)) return false;
    return allowed === null || allowed.includes(name);
  });
}

function catalogueOf(skills: readonly FoundSkill[], tools: readonly Tool[]): string {
  const lines = tools.map(
    (tool) => `- \`${tool.name}\` (${tool.permission}): ${tool.description} Arguments: ${tool.arguments.join(', ')}.`,
  );
  return [
    ...['Skills:', skills.length === 0 ? '(none)' : skillsText(skills)],
    ...['Tools:', lines.length === 0 ? '(none)' : lines.join('\n')],
  ].join('\n');
}

/** Throws when the caller's permission was revoked while the agent works. */
async function requirePermission(
  { messenger }: TypeDependencies,
  { context, principal }: SearchRequest,
  { id }: DatasetRef,
  { permission }: Tool,
): Promise<void> {
  await messenger.call('auth.ResolveDatasets', { ids: [id], permission, partly: true }, { ...context, principal });
}
