import { short } from '../../charts/format';
import type { SettingState } from '../../state/setting';

/** The point, length and temperature of a setting, for the closed sheet of controls. */
export function settingText({ mean, variance, length, temperature }: Readonly<SettingState>): string {
  return `m ${short(mean)} · v ${short(variance)} · T ${length} · λ ${short(temperature)}`;
}
