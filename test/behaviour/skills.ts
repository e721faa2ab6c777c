import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { auditRecordsCollection, createAuditLog } from '../../services/auth/repositories/audit-log.ts';
import type { UserId } from '../../services/common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../services/common/kernel/dataset.ts';
import { isEngramError } from '../../services/common/kernel/errors.ts';
import { asId, datasetId } from '../../services/common/kernel/ids.ts';
import type { Principal } from '../../services/common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { createIdSource } from '../../services/common/platform/system/id-source.ts';
import { eraseCollections } from '../../services/common/records/base/erase-collections.ts';
import { ownedBy } from '../../services/common/records/collections.ts';
import { createSkills } from '../../services/common/records/ingest/skills.ts';
import type { DocumentStore } from '../../services/common/storage/ports/document-store.ts';
import { forgottenCollections, ingestCollections } from '../../services/ingest/collections.ts';
import type { IngestDependencies } from '../../services/ingest/dependencies.ts';
import { createProposals } from '../../services/ingest/repositories/proposals.ts';
import { createSkillRuns } from '../../services/ingest/repositories/skill-runs.ts';
import { deleteSkill } from '../../services/ingest/routes/skills.ts';
import { type RunRequest, recordSkillRun } from '../../services/ingest/skills/record-skill-run.ts';
import { readSources, storeSkills } from '../../services/ingest/skills/remember-skills.ts';
import { inlineSource } from '../../services/ingest/skills/skill-sources.ts';
import type { SharedDocuments } from '../support/document-stores.ts';

const OWNER = asId<UserId>(randomUUID());
const PRINCIPAL: Principal = {
  id: OWNER,
  email: 'owner@example.com',
  tenant: PERSONAL_TENANT,
  isSuperuser: false,
  parentId: null,
};
const CONTEXT = { requestId: 'test' };

/** What one process does with skills of a dataset. */
function processAt(store: DocumentStore) {
  const dependencies = {
    store,
    clock: createSystemClock(),
    ids: createIdSource(),
    logger: createSilentLogger(),
    skills: createSkills(store),
    skillRuns: createSkillRuns(store),
    proposals: createProposals(store),
    audit: createAuditLog(store, createSystemClock()),
    models: { current: async () => ({ languageModel: null }) },
  } as unknown as IngestDependencies;
  const run = (dataset: DatasetRef, more: Partial<RunRequest['run']>, improvement: RunRequest['improvement'] = null) =>
    recordSkillRun(dependencies, {
      principal: PRINCIPAL,
      dataset,
      selectedSkill: 'triage',
      improvement,
      context: CONTEXT,
      run: {
        runId: randomUUID(),
        taskText: '',
        resultSummary: '',
        successScore: 0.1,
        feedback: 0,
        errorType: 'E',
        errorMessage: '',
        startedAtMs: 0,
        latencyMs: 0,
        candidateSkillIds: [],
        taskPatternId: '',
        routerVersion: '',
        toolTrace: [],
        nodeSet: 'skills',
        session: null,
        ...more,
      },
    });
  return {
    dependencies,
    run,
    keep: (dataset: DatasetRef, name: string, text: string) =>
      storeSkills(dependencies, dataset, readSources(inlineSource(text, name))),
    draft: async (dataset: DatasetRef) =>
      (await run(dataset, {}, { kind: 'draft', skill: null, threshold: 0.5, maxRuns: 5 })).proposal?.id ?? '',
    apply: (dataset: DatasetRef, proposal: string) => run(dataset, {}, { kind: 'apply', skill: null, proposal }),
    drop: (dataset: DatasetRef, id: string) => deleteSkill(dependencies, PRINCIPAL, { dataset, id }),
  };
}

/** What skills promise over any document store, with two processes at it. */
export function skillsBehaviour(name: string, open: () => Promise<SharedDocuments>): void {
  describe(`skills over ${name}`, () => {
    let subject: SharedDocuments;
    let one: ReturnType<typeof processAt>;
    let two: ReturnType<typeof processAt>;
    before(async () => {
      subject = await open();
      for (const store of subject.stores)
        await store.prepare([...ingestCollections, ...ownedBy('integrations'), auditRecordsCollection]);
      [one, two] = [processAt(subject.stores[0]), processAt(subject.stores[1])];
    });
    after(() => subject.dispose());

    const freshDataset = (): DatasetRef => {
      const datasetName = randomUUID();
      const id = datasetId(datasetName, OWNER, null);
      const times = { createdAt: new Date().toISOString(), updatedAt: null };
      return { id, name: datasetName, ownerId: OWNER, tenant: PERSONAL_TENANT, ...times };
    };
    const skillsOf = (dataset: DatasetRef) =>
      one.dependencies.skills.page(scopeOf(dataset), { limit: 100, offset: 0, includeInactive: true });
    const procedureOf = async (dataset: DatasetRef) => (await skillsOf(dataset))[0]?.procedure;
    const refusalOf = (work: Promise<unknown>) =>
      work.then(
        () => null,
        (error: unknown) => (isEngramError(error) ? error.wireName : String(error)),
      );

    it('are one per name and counted correctly when stored concurrently', async () => {
      const dataset = freshDataset();
      const writers = [one, two].flatMap((writer) =>
        Array.from({ length: 6 }, (_, index) => writer.keep(dataset, `skill ${index % 4}`, `Text ${index}`)),
      );
      await Promise.all(writers);
      expect((await skillsOf(dataset)).map((skill) => skill.name)).to.deep.equal(
        Array.from({ length: 4 }, (_, index) => `skill ${index}`),
      );
      const before = await one.dependencies.skills.shelf(scopeOf(dataset));
      expect(before?.count).to.equal(4);
      await two.drop(dataset, (await skillsOf(dataset))[0]?.id ?? '');
      const after = await one.dependencies.skills.shelf(scopeOf(dataset));
      expect(after?.count).to.equal(3);
      expect(after?.revision).not.to.equal(before?.revision);
    });

    it('count a run once when both received it', async () => {
      const dataset = freshDataset();
      const [skill] = await one.keep(dataset, 'triage', 'Do it.');
      await Promise.all([one, two, one, two].map((writer) => writer.run(dataset, { runId: 'same' })));
      expect(await two.dependencies.skillRuns.count(scopeOf(dataset), skill?.id ?? '')).to.equal(1);
    });

    it('lose no text when a proposal is applied while another is stored', async () => {
      for (let round = 0; round < 8; round += 1) {
        const dataset = freshDataset();
        await one.keep(dataset, 'triage', 'First.');
        const proposal = await one.draft(dataset);
        const [refusal] = await Promise.all([
          refusalOf(two.apply(dataset, proposal)),
          one.keep(dataset, 'triage', 'Second.'),
        ]);
        expect(refusal).to.be.oneOf([null, 'ConflictError']);
        expect(await procedureOf(dataset)).to.equal('Second.');
        const stored = await two.dependencies.proposals.get(scopeOf(dataset), proposal);
        expect(stored?.proposal.status).to.equal(refusal === null ? 'applied' : 'proposed');
      }
    });

    it('are changed once when both apply a proposal', async () => {
      const dataset = freshDataset();
      await one.keep(dataset, 'triage', 'First.');
      const proposal = await two.draft(dataset);
      const refusals = await Promise.all(
        [one, two, one, two].map((writer) => refusalOf(writer.apply(dataset, proposal))),
      );
      expect(refusals).to.deep.equal([null, null, null, null]);
      const stored = await one.dependencies.proposals.get(scopeOf(dataset), proposal);
      expect(stored?.proposal.oldProcedure).to.equal('First.');
      expect(await procedureOf(dataset)).to.equal(stored?.proposal.proposedProcedure);
    });

    it('leave nothing behind when deleted while runs are recorded', async () => {
      for (let round = 0; round < 5; round += 1) {
        const dataset = freshDataset();
        const [skill] = await one.keep(dataset, 'triage', 'First.');
        const id = skill?.id ?? '';
        const [isDropped, ...refusals] = await Promise.all([
          two.drop(dataset, id),
          ...[one, two, one].map((writer) => refusalOf(writer.draft(dataset))),
        ]);
        expect(isDropped).to.equal(true);
        for (const refusal of refusals) expect(refusal).to.be.oneOf([null, 'InvalidRequestError']);
        const scope = scopeOf(dataset);
        expect(await one.dependencies.skillRuns.count(scope, id)).to.equal(0);
        expect(await one.dependencies.proposals.count(scope, id)).to.equal(0);
      }
    });

    it('return the newest failing runs, by error or by score, up to the limit', async () => {
      const dataset = freshDataset();
      const [skill] = await one.keep(dataset, 'triage', 'First.');
      for (let index = 0; index < 6; index += 1) {
        const errorType = index % 2 === 0 ? 'E' : '';
        await one.run(dataset, {
          runId: `r${index}`,
          startedAtMs: index,
          errorType,
          successScore: index === 5 ? 0.5 : 0.4,
        });
      }
      const failing = async (threshold: number, limit: number) =>
        (await two.dependencies.skillRuns.failing(scopeOf(dataset), skill?.id ?? '', { threshold, limit })).map(
          ({ runId }) => runId,
        );
      expect(await failing(0.5, 10)).to.deep.equal(['r4', 'r3', 'r2', 'r1', 'r0']);
      expect(await failing(0.6, 2)).to.deep.equal(['r5', 'r4']);
      expect(await failing(0.1, 10)).to.deep.equal(['r4', 'r2', 'r0']);
    });

    it('store any text, and draft from any', async () => {
      const dataset = freshDataset();
      const odd = 'NUL \u0000, half a pair \ud800, \u202e turned, $set.{a.b}';
      await one.keep(dataset, 'triage', `---\ntags: [${odd}]\n---\n${odd}`);
      expect(await procedureOf(dataset)).to.equal(odd);
      const trace = [{ toolName: odd, toolInput: { '$a.b': odd }, toolOutput: odd, success: false, durationMs: 0 }];
      const texts = { errorType: odd, errorMessage: odd, taskText: odd, toolTrace: trace };
      const draft = { kind: 'draft', skill: null, threshold: 0.5, maxRuns: 5 } as const;
      const { run, proposal } = await two.run(dataset, { runId: odd, ...texts }, draft);
      expect(run.runId).to.equal(odd);
      const stored = await one.dependencies.proposals.get(scopeOf(dataset), proposal?.id ?? '');
      expect(stored?.proposal.proposedProcedure).to.equal(proposal?.proposedProcedure);
      expect(stored?.proposal.runsUsed).to.deep.equal([odd]);
      const scope = scopeOf(dataset);
      const [failing] = await one.dependencies.skillRuns.failing(scope, run.skill, { threshold: 0.5, limit: 1 });
      expect(failing?.toolTrace).to.deep.equal(trace);
    });

    it('are erased with their dataset, not with another', async () => {
      const [gone, kept] = [freshDataset(), freshDataset()];
      for (const dataset of [gone, kept]) {
        await one.keep(dataset, 'triage', 'First.');
        await one.draft(dataset);
      }
      expect((await eraseCollections(subject.stores[1], scopeOf(gone), forgottenCollections)).left).to.equal(0);
      expect(await skillsOf(gone)).to.deep.equal([]);
      expect(await one.dependencies.skills.shelf(scopeOf(gone))).to.equal(null);
      expect(await skillsOf(kept)).to.have.length(1);
      expect(await one.keep(gone, 'triage', 'Again.')).to.have.length(1);
    });
  });
}
