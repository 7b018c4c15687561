export const householdMessages = {
  'household.title': 'Household',
}
