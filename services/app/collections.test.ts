import { expect } from 'chai';
import { authCollections, holdingCollections, tenantRecordCollections, userCollections } from '../auth/collections.ts';
import {
  builtCollections,
  memoryCollections,
  restoredCollections as restoredByCognify,
} from '../cognify/collections.ts';
import { recordCollections } from '../common/records/collections.ts';
import { userLearningCollections } from '../common/records/session-removal.ts';
import type { AnyOwnedCollection } from '../common/storage/ports/owned-collection.ts';
import { learnedCollections } from '../improve/collections.ts';
import { copiedCollections, forgottenCollections, restoredCollections } from '../ingest/collections.ts';
import { collections, tenantCollections } from './collections.ts';

const names = (list: readonly AnyOwnedCollection[]): readonly string[] => list.map(({ name }) => name).sort();

describe('the collections', () => {
  it('are each listed once', () => {
    expect([...new Set(names(collections))]).to.deep.equal(names(collections));
    expect(collections).to.include.members([...recordCollections, ...authCollections]);
  });

  it('erased with a tenant are those of tenant and dataset level but for the log of events', () => {
    const level = collections.filter((collection) => collection.level !== 'system' && collection.name !== 'events');
    expect(names(tenantCollections)).to.deep.equal(names(level));
  });

  it('emptied of a tenant in the commit that deletes it are these', () => {
    expect(names(tenantRecordCollections)).to.deep.equal([
      'agent_connections',
      'api_keys',
      'managed_resources',
      'memberships',
      'role_members',
      'roles',
      'scim_groups',
      'scim_users',
      'source_answers',
      'source_connections',
      'source_credentials',
      'source_deliveries',
      'source_installs',
      'sync_runs',
      'tenant_hosts',
    ]);
  });

  it('emptied of a user in the commit that deletes the account are these', () => {
    expect(names(userCollections)).to.deep.equal([
      'account_mails',
      'agent_connections',
      'api_keys',
      'device_sign_ins',
      'linked_identities',
      'memberships',
      'ontologies',
      'ontology_files',
      'role_members',
      'scim_users',
      'source_answers',
      'source_connections',
      'source_credentials',
      'source_deliveries',
      'source_installs',
      'stored_configurations',
      'sync_runs',
    ]);
  });

  it('of tenants that are emptied of a deleted user are these', () => {
    expect(names(holdingCollections)).to.deep.equal(['capability_grants', 'grants']);
    expect(names(userLearningCollections)).to.deep.equal([
      'distillations',
      'preference_progress',
      'preference_weights',
      'preferences',
      'weight_votes',
    ]);
  });

  it('that ingest empties when a dataset is forgotten are these', () => {
    expect(names(forgottenCollections)).to.deep.equal([
      'dataset_retention',
      'echo_marks',
      'repetitions',
      'skill_proposals',
      'skill_runs',
      'skill_shelves',
      'skills',
      'source_access',
      'source_audiences',
      'source_cursors',
      'source_groups',
      'source_items',
      'supersession_reverts',
      'sync_dues',
      'sync_offers',
      'sync_origins',
      'synced_content',
    ]);
  });

  it('that cognify empties when a dataset or its memory is forgotten are these', () => {
    expect(names(memoryCollections)).to.deep.equal(['index_rebuilds', 'statements', 'supersessions']);
    expect(names(builtCollections)).to.deep.equal([
      'dataset_configurations',
      'model_cache',
      'run_heads',
      'run_results',
      'scheduled_starts',
    ]);
  });

  it('that improve empties when a dataset or its memory is forgotten are these', () => {
    expect(names(learnedCollections)).to.deep.equal([
      'context_entities',
      'context_leaves',
      'context_nodes',
      'context_state',
      'distillations',
      'element_weights',
      'preference_progress',
      'preference_weights',
      'preferences',
      'structure_items',
      'truth_centroids',
      'truth_coordinates',
      'weight_votes',
    ]);
  });

  it('in snapshots are these, and each is restored by ingest or by cognify', () => {
    const copied = [
      'dataset_configurations',
      'element_weights',
      'repetitions',
      'skill_shelves',
      'skills',
      'source_access',
      'source_audiences',
      'source_groups',
      'supersession_reverts',
    ];
    expect(names(copiedCollections)).to.deep.equal(copied);
    const ofCognify = ['dataset_configurations', 'ledger', 'statements', 'supersessions'];
    expect(names(restoredByCognify)).to.deep.equal(ofCognify);
    expect(names(restoredCollections)).to.deep.equal(copied.filter((name) => !ofCognify.includes(name)));
  });
});
