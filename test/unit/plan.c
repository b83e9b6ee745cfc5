/* Which objects a batch touches, and which requests want what of each. */
#include "test.h"

#include "engine/job.h"

enum { LENGTH = 10, CHUNK = 4, MANY = 300000 };

static zlgi_source source_of(void)
{
    zlgi_source source = {.prefix = "", .item = 1};
    source.grid.rank = 1;
    source.grid.axis[0] = zlgi_grid_regular(LENGTH, CHUNK);
    return source;
}

/* Two arrays in turn and in halves: objects come by array, then by place in the grid, and
 * each has the requests that want it in the order they were given. */
static void test_requests_are_gathered_by_object(void **state)
{
    (void)state;
    zlgi_source sources[2] = {source_of(), source_of()};
    zlg_axis low = {.start = 1, .step = 1, .count = 5}; /* chunks 0 and 1 */
    zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &low};
    const int64_t list[] = {9, 2, 9, 8};
    const int64_t *const coordinates[] = {list};
    zlg_selection points = {
        .kind = ZLG_POINTS, .rank = 1, .coordinates = coordinates, .n_points = 4};
    uint8_t memory[16];
    const zlgi_request requests[] = {
        {.source = &sources[1], .selection = &box, .memory = memory},
        {.source = &sources[0], .selection = &points, .memory = memory},
        {.source = &sources[1], .selection = &points, .memory = memory},
        {.source = &sources[0], .selection = &box, .memory = memory}};
    static const struct {
        int source;
        int64_t object;
        uint32_t requests[2];
        size_t n;
    } expected[] = {{1, 0, {0, 2}, 2}, {1, 1, {0}, 1}, {1, 2, {2}, 1},
                    {0, 0, {1, 3}, 2}, {0, 1, {3}, 1}, {0, 2, {1}, 1}};
    zlgi_plan plan;
    assert_int_equal(zlgi_plan_make(&plan, &zlgi_default_alloc, requests, 4, NULL), ZLG_OK);
    assert_int_equal(plan.n_objects, ZLGI_COUNT(expected));
    for (uint64_t k = 0; k < plan.n_objects; k++) {
        zlgi_planned planned;
        zlgi_plan_object(&plan, k, &planned);
        assert_ptr_equal(planned.source, &sources[expected[k].source]);
        assert_int_equal(planned.coordinates[0], expected[k].object);
        assert_int_equal(planned.n_records, expected[k].n);
        for (size_t i = 0; i < expected[k].n; i++)
            assert_int_equal(planned.records[i].request, expected[k].requests[i]);
    }
    zlgi_plan_reset(&plan);
}

/* Many requests of one array behind many of another: this must not take minutes. */
static void test_many_requests_of_several_arrays(void **state)
{
    (void)state;
    zlgi_source sources[3] = {source_of(), source_of(), source_of()};
    zlg_axis axis = {.start = 9, .step = 1, .count = 1};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
    zlgi_request *requests = calloc(MANY, sizeof *requests);
    uint8_t memory;
    for (size_t i = 0; i < MANY; i++)
        requests[i] = (zlgi_request){
            .source = &sources[i * 3 / MANY], .selection = &box, .memory = &memory};
    zlgi_plan plan;
    zlgi_planned planned;
    test_heap heap;
    test_heap_init(&heap);
    assert_int_equal(zlgi_plan_make(&plan, &heap.alloc, requests, MANY, NULL), ZLG_OK);
    assert_true(heap.peak_bytes < (size_t)400 * MANY);
    assert_int_equal(plan.n_objects, 3);
    for (uint64_t k = 0; k < 3; k++) {
        zlgi_plan_object(&plan, k, &planned);
        assert_ptr_equal(planned.source, &sources[k]);
        assert_int_equal(planned.n_records, MANY / 3);
    }
    zlgi_plan_reset(&plan);
    free(requests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_are_gathered_by_object),
        cmocka_unit_test(test_many_requests_of_several_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
