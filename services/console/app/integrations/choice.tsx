import { Button, Checkbox, Group, Modal, ScrollArea, Stack, Switch, Text, TextInput } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { Failed, Waiting } from '../states.tsx';

/** What is chosen of the options; null: everything, also what comes later. */
export type Chosen = readonly string[] | null;

interface Choice {
  readonly options: readonly { readonly id: string; readonly name: string; readonly description?: string | null }[];
  readonly selected: Chosen;
  /** Kinds of documents that each of them has. */
  readonly kinds?: readonly { readonly id: string; readonly name: string; readonly selected: boolean }[] | undefined;
}

interface ChoiceDialogProps {
  readonly title: string;
  readonly hint?: string;
  readonly found: UseQueryResult<Choice>;
  /** Label of the switch for everything; null: there is no choice of everything. */
  readonly everything: string | null;
  /** Something has to be chosen. */
  readonly needsOne?: boolean;
  /** Label of the button. */
  readonly action: string;
  onClose(): void;
  onSave(selected: Chosen, kinds: readonly string[]): void;
}

/** A longer list can be searched. */
const SHORT = 8;

/** The list with the id, or without it where it has it. */
function toggled(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id];
}

/** A list to choose from, or everything. */
export function ChoiceDialog(props: ChoiceDialogProps) {
  const { title, hint, found, everything, needsOne = false, action, onClose, onSave } = props;
  const [chosen, setChosen] = useState<Chosen | undefined>(undefined);
  const selected = chosen === undefined ? (found.data?.selected ?? null) : chosen;
  const { options = [], kinds = [] } = found.data ?? {};
  const [word, setWord] = useState('');
  const shown = options.filter(({ name }) => name.toLowerCase().includes(word.trim().toLowerCase()));
  const [switched, setSwitched] = useState<readonly string[]>([]);
  const chosenKinds = kinds.filter(({ id, selected: isOn }) => isOn !== switched.includes(id)).map(({ id }) => id);
  const isNothing = (needsOne && selected?.length === 0) || (kinds.length > 0 && chosenKinds.length === 0);
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      {found.isPending ? <Waiting /> : null}
      {found.isError ? <Failed error={found.error} onRetry={() => void found.refetch()} /> : null}
      {found.isSuccess ? (
        <Stack>
          {hint === undefined ? null : (
            <Text size="sm" c="dimmed">
              {hint}
            </Text>
          )}
          {everything === null ? null : (
            <Switch
              label={everything}
              checked={selected === null}
              onChange={({ currentTarget }) => setChosen(currentTarget.checked ? null : options.map(({ id }) => id))}
            />
          )}
          {selected === null || options.length <= SHORT ? null : (
            <Group gap="xs" wrap="nowrap">
              <TextInput
                aria-label="Find in the list"
                placeholder="Find"
                value={word}
                onChange={({ currentTarget }) => setWord(currentTarget.value)}
                flex={1}
              />
              {[true, false].map((isOn) => (
                <Button
                  key={String(isOn)}
                  variant="default"
                  onClick={() => {
                    const others = selected.filter((id) => shown.every((option) => option.id !== id));
                    setChosen(isOn ? [...others, ...shown.map(({ id }) => id)] : others);
                  }}
                >
                  {isOn ? 'All' : 'None'}
                </Button>
              ))}
            </Group>
          )}
          {selected === null ? null : (
            <ScrollArea.Autosize mah={320}>
              <Stack gap="xs">
                {shown.map(({ id, name, description }) => (
                  <Checkbox
                    key={id}
                    label={name}
                    description={description}
                    checked={selected.includes(id)}
                    onChange={() => setChosen(toggled(selected, id))}
                  />
                ))}
              </Stack>
            </ScrollArea.Autosize>
          )}
          {kinds.length === 0 ? null : (
            <Stack gap="xs" role="group" aria-label="Kinds of documents">
              <Text size="sm" fw={500}>
                Kinds of documents
              </Text>
              {kinds.map(({ id, name }) => (
                <Switch
                  key={id}
                  label={name}
                  checked={chosenKinds.includes(id)}
                  onChange={() => setSwitched(toggled(switched, id))}
                />
              ))}
            </Stack>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button disabled={isNothing} onClick={() => onSave(selected, chosenKinds)}>
              {action}
            </Button>
          </Group>
        </Stack>
      ) : null}
    </Modal>
  );
}
