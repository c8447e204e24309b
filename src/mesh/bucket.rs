//! Sorting of keys that begin with a small number, such as the number of a vertex.

use voxshell_base::memory::{filled, with_capacity, GrowGuarded};

/// Returns the items in ascending order. `first` is the item's leading number, by which the order compares first, less than
/// `count`. Linear in the items if few have the same number.
///
/// A counting sort by the number, then a sort of the items that share it: the sorted list of a total order does not depend
/// on the method.
pub fn sorted_by_bucket<T: Ord + Copy>(mut items: Vec<T>, count: usize, first: impl Fn(&T) -> u32) -> Vec<T> {
    let Some(&any) = items.first() else { return items };
    // Counting would take longer than the sort.
    if count > 2 * items.len() {
        items.sort_unstable();
        return items;
    }
    let mut starts = filled(0u32, count + 1);
    for item in &items {
        starts[first(item) as usize + 1] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut sorted = with_capacity(items.len());
    sorted.resize_guarded(items.len(), any);
    for item in items {
        let place = &mut starts[first(&item) as usize];
        sorted[*place as usize] = item;
        *place += 1;
    }
    // Each start is now the end of its bucket.
    let mut from = 0;
    for &end in &starts[..count] {
        sorted[from as usize..end as usize].sort_unstable();
        from = end;
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_give_the_order_of_a_plain_sort() {
        let mut state = 1u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % below) as u32
        };
        for (items, count) in [(0, 0), (0, 5), (1, 1), (7, 1), (1000, 3), (1000, 1000), (3000, 50_000)] {
            let list: Vec<(u32, u32, bool)> = (0..items).map(|_| (next(count), next(4), next(2) == 0)).collect();
            let mut plain = list.clone();
            plain.sort();
            assert_eq!(sorted_by_bucket(list, count as usize, |i| i.0), plain, "{items} items in {count} buckets");
        }
    }
}
