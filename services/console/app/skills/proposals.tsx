import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { ago, plural } from '../format.ts';
import { usePermitted } from '../queries.ts';
import { askFirst, attempt, Empty, Failed, Waiting } from '../states.tsx';
import { StateBadge } from '../table.tsx';

type Proposal = Answer<'/api/v1/proposals', 'get'>[number];

const PAGE = 20;

/** Better procedures that were drafted from runs of skills that failed. */
export function Proposals({ dataset }: { readonly dataset: string }) {
  const client = useQueryClient();
  const mayWrite = usePermitted('write').has(dataset);
  const proposals = useInfiniteQuery({
    queryKey: ['proposals', dataset],
    queryFn: ({ pageParam }) =>
      engram.get('/api/v1/proposals', { query: { dataset_id: dataset, limit: PAGE, offset: pageParam } }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < PAGE ? null : pages.length * PAGE),
  });
  const apply = (proposal: Proposal) =>
    askFirst({
      title: `Apply the proposal for ${proposal.skill_name}?`,
      text: 'Agents follow the proposed procedure from then on, in place of the present one.',
      action: 'Apply it',
      run: async () => {
        const call = { path: { proposal_id: proposal.proposal_id }, query: { dataset_id: dataset } };
        await attempt(() => engram.post('/api/v1/proposals/{proposal_id}/apply', call), 'The proposal is applied.');
        for (const key of ['proposals', 'skills']) await client.invalidateQueries({ queryKey: [key, dataset] });
      },
    });
  if (proposals.isPending) return <Waiting />;
  if (proposals.isError) return <Failed error={proposals.error} onRetry={() => void proposals.refetch()} />;
  const list = proposals.data.pages.flat();
  if (list.length === 0) {
    return (
      <Empty title="No proposals">
        When an agent reports that a skill did not help, a better procedure can be drafted from what went wrong. It
        waits here until somebody applies it.
      </Empty>
    );
  }
  return (
    <Stack>
      {list.map((proposal) => (
        <Paper key={proposal.proposal_id} withBorder p="md" component="article" aria-label={proposal.skill_name}>
          <Group justify="space-between" wrap="nowrap">
            <Text fw={600}>{proposal.skill_name}</Text>
            <StateBadge color={proposal.status === 'applied' ? 'green' : 'indigo'}>
              {proposal.status === 'applied' ? `Applied ${ago(proposal.applied_at)}` : 'Waits for a decision'}
            </StateBadge>
          </Group>
          <Text size="sm" mt={4}>
            {proposal.rationale}
          </Text>
          <Text size="xs" c="dimmed">
            Drafted {ago(proposal.created_at)} by {proposal.model_name} from {plural(proposal.runs_used.length, 'run')}{' '}
            · confidence {Math.round(proposal.confidence * 100)} %
          </Text>
          <Difference before={proposal.old_procedure} after={proposal.proposed_procedure} />
          {mayWrite && proposal.status === 'proposed' ? (
            <Button size="compact-sm" mt="sm" onClick={() => apply(proposal)}>
              Apply
            </Button>
          ) : null}
        </Paper>
      ))}
      {proposals.hasNextPage ? (
        <Button variant="default" onClick={() => void proposals.fetchNextPage()} loading={proposals.isFetchingNextPage}>
          Show more
        </Button>
      ) : null}
    </Stack>
  );
}

/** The proposed lines, those that are new marked, and below what is left out. */
function Difference({ before, after }: { readonly before: string; readonly after: string }) {
  const old = before.split('\n');
  const proposed = after.split('\n');
  const gone = old.filter((line) => line.trim() !== '' && !proposed.includes(line));
  return (
    <div className="document">
      <Text size="sm" component="pre" ff="monospace" mt="xs" style={{ whiteSpace: 'pre-wrap' }}>
        {proposed.map((line, at) => {
          const key = `${at} ${line}`;
          return old.includes(line) ? <div key={key}>{`  ${line}`}</div> : <ins key={key}>{`+ ${line}\n`}</ins>;
        })}
        {gone.map((line) => (
          <del key={line}>{`- ${line}\n`}</del>
        ))}
      </Text>
    </div>
  );
}
