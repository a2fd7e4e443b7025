/** A field's name as words: `date_of_birth` and `dateOfBirth` become "date of birth". */
export function spoken(name: string): string {
  return name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/_/g, ' ');
}
