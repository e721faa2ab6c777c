import { Accordion, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { usePermitted } from '../queries.ts';
import { askFirst, attempt, complain, Empty, Failed, say, Waiting } from '../states.tsx';
import { StateBadge } from '../table.tsx';

type Skill = Answer<'/api/v1/skills', 'get'>[number];

const EXAMPLE =
  '---\ndescription: How we write release notes\n---\n1. Read the commits since the last tag.\n2. Group them by area.';

/** How things are done: procedures that agents look up. */
export function Skills({ dataset }: { readonly dataset: string }) {
  const client = useQueryClient();
  const mayWrite = usePermitted('write').has(dataset);
  const mayDelete = usePermitted('delete').has(dataset);
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const [isSending, setSending] = useState(false);
  const skills = useQuery({
    queryKey: ['skills', dataset],
    queryFn: () => engram.get('/api/v1/skills', { query: { dataset_id: dataset, include_inactive: true, limit: 200 } }),
  });
  const changed = () => client.invalidateQueries({ queryKey: ['skills', dataset] });
  const add = async () => {
    setSending(true);
    try {
      await engram.post('/api/v1/skills', {
        body: { dataset_id: dataset, skills_text: text, skill_name: name.trim() },
      });
      setName('');
      setText('');
      say('The skill was added.');
      await changed();
    } catch (error) {
      complain(error);
    } finally {
      setSending(false);
    }
  };
  const remove = (skill: Skill) =>
    askFirst({
      title: `Delete the skill ${skill.name}?`,
      text: 'Agents find it no longer.',
      action: 'Delete the skill',
      run: async () => {
        const call = { path: { skill_id: skill.id }, query: { dataset_id: dataset } };
        await attempt(() => engram.delete('/api/v1/skills/{skill_id}', call), 'The skill was deleted.');
        await changed();
      },
    });
  if (skills.isPending) return <Waiting />;
  if (skills.isError) return <Failed error={skills.error} onRetry={() => void skills.refetch()} />;
  return (
    <Stack>
      {skills.data.length === 0 ? (
        <Empty title="No skills">
          A skill says how something is done. Agents find it by its description and load its steps.
        </Empty>
      ) : (
        <Accordion variant="separated" chevronPosition="left">
          {skills.data.map((skill) => (
            <Accordion.Item key={skill.id} value={skill.id}>
              <Accordion.Control>
                <Group gap="xs">
                  <Text fw={500}>{skill.name}</Text>
                  {skill.is_active ? null : <StateBadge color="gray">Inactive</StateBadge>}
                </Group>
                <Text size="sm" c="dimmed">
                  {skill.description}
                </Text>
              </Accordion.Control>
              <Accordion.Panel>
                <Procedure dataset={dataset} id={skill.id} />
                {mayDelete ? (
                  <Button size="compact-sm" variant="default" mt="sm" onClick={() => remove(skill)}>
                    Delete the skill
                  </Button>
                ) : null}
              </Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      )}
      {mayWrite ? (
        <Stack gap="xs" align="flex-start">
          <TextInput
            label="New skill"
            placeholder="release-notes"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Textarea
            w="100%"
            label="Text"
            description="As in a SKILL.md: what it is for, then the steps"
            placeholder={EXAMPLE}
            autosize
            minRows={5}
            maxRows={16}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Button disabled={name.trim() === '' || text.trim() === ''} loading={isSending} onClick={() => void add()}>
            Add the skill
          </Button>
        </Stack>
      ) : null}
    </Stack>
  );
}

/** The steps are read when somebody opens the skill. */
function Procedure({ dataset, id }: { readonly dataset: string; readonly id: string }) {
  const skill = useQuery({
    queryKey: ['skills', dataset, id],
    queryFn: () => engram.get('/api/v1/skills/{skill_id}', { path: { skill_id: id }, query: { dataset_id: dataset } }),
  });
  if (skill.isPending) return <Waiting />;
  if (skill.isError) return <Failed error={skill.error} />;
  return (
    <Text size="sm" className="document">
      {skill.data.procedure}
    </Text>
  );
}
