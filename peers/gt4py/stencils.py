"""The suite's stencils (SPEC of each: include/icobench/stencil/) in GT4Py.

Field operators compute a point; programs say where. `CHAIN_program` calls the operators one after
another in one program, with the fields between them in memory; `CHAIN_composed` calls one operator
made of them, and leaves to GT4Py what is in memory.
"""
import gt4py.next as gtx
from gt4py.next import float64, int32, neighbor_sum

Vertex, Edge, Cell = (gtx.Dimension(name) for name in ("Vertex", "Edge", "Cell"))
K = gtx.Dimension("K", kind=gtx.DimensionKind.VERTICAL)
E2C2VDim, V2EDim, C2VDim = (gtx.Dimension(name, gtx.DimensionKind.LOCAL)
                            for name in ("E2C2V", "V2E", "C2V"))
E2C2V = gtx.FieldOffset("E2C2V", source=Vertex, target=(Edge, E2C2VDim))
V2E = gtx.FieldOffset("V2E", source=Edge, target=(Vertex, V2EDim))
C2V = gtx.FieldOffset("C2V", source=Vertex, target=(Cell, C2VDim))

VertexK = gtx.Field[gtx.Dims[Vertex, K], float64]
EdgeK = gtx.Field[gtx.Dims[Edge, K], float64]
CellK = gtx.Field[gtx.Dims[Cell, K], float64]
OnEdge = gtx.Field[gtx.Dims[Edge], float64]
OnDiamond = gtx.Field[gtx.Dims[Edge, E2C2VDim], float64]
OnEdgesOfVertex = gtx.Field[gtx.Dims[Vertex, V2EDim], float64]
OnCorners = gtx.Field[gtx.Dims[Cell, C2VDim], float64]


@gtx.field_operator
def nabla4(u: VertexK, v: VertexK, n1: OnDiamond, n2: OnDiamond, ivv: OnEdge, ipe: OnEdge,
           z: EdgeK) -> EdgeK:
    tangential = (u(E2C2V[0]) * n1[E2C2VDim(0)] + v(E2C2V[0]) * n2[E2C2VDim(0)]
                  + u(E2C2V[1]) * n1[E2C2VDim(1)] + v(E2C2V[1]) * n2[E2C2VDim(1)])
    normal = (u(E2C2V[2]) * n1[E2C2VDim(2)] + v(E2C2V[2]) * n2[E2C2VDim(2)]
              + u(E2C2V[3]) * n1[E2C2VDim(3)] + v(E2C2V[3]) * n2[E2C2VDim(3)])
    return 4.0 * ((normal - 2.0 * z) * (ivv * ivv) + (tangential - 2.0 * z) * (ipe * ipe))


@gtx.field_operator
def interpolate(p_e: EdgeK, c1: OnEdgesOfVertex, c2: OnEdgesOfVertex) -> tuple[VertexK, VertexK]:
    return (neighbor_sum(p_e(V2E) * c1, axis=V2EDim), neighbor_sum(p_e(V2E) * c2, axis=V2EDim))


@gtx.field_operator
def verts2cells(p_u: VertexK, p_v: VertexK, d1: OnCorners, d2: OnCorners) -> CellK:
    return 0.5 * (neighbor_sum(p_u(C2V) * d1, axis=C2VDim)
                  + neighbor_sum(p_v(C2V) * d2, axis=C2VDim))


@gtx.field_operator
def both(u: VertexK, v: VertexK, n1: OnDiamond, n2: OnDiamond, ivv: OnEdge, ipe: OnEdge, z: EdgeK,
         c1: OnEdgesOfVertex, c2: OnEdgesOfVertex) -> tuple[VertexK, VertexK]:
    return interpolate(nabla4(u, v, n1, n2, ivv, ipe, z), c1, c2)


@gtx.field_operator
def all_three(u: VertexK, v: VertexK, n1: OnDiamond, n2: OnDiamond, ivv: OnEdge, ipe: OnEdge,
              z: EdgeK, c1: OnEdgesOfVertex, c2: OnEdgesOfVertex, d1: OnCorners,
              d2: OnCorners) -> CellK:
    p_u, p_v = both(u, v, n1, n2, ivv, ipe, z, c1, c2)
    return verts2cells(p_u, p_v, d1, d2)


@gtx.program(grid_type=gtx.GridType.UNSTRUCTURED)
def nabla4_separate(
        u_vert: VertexK, v_vert: VertexK, primal_normal_vert_v1: OnDiamond,
        primal_normal_vert_v2: OnDiamond, inv_vert_vert_length: OnEdge,
        inv_primal_edge_length: OnEdge, z_nabla2_e: EdgeK, z_nabla4_e2: EdgeK, edges: int32,
        levels: int32):
    nabla4(u_vert, v_vert, primal_normal_vert_v1, primal_normal_vert_v2, inv_vert_vert_length,
           inv_primal_edge_length, z_nabla2_e, out=z_nabla4_e2,
           domain={Edge: (0, edges), K: (0, levels)})


@gtx.program(grid_type=gtx.GridType.UNSTRUCTURED)
def interpolate_separate(
        z_nabla4_e2: EdgeK, ptr_coeff_1: OnEdgesOfVertex, ptr_coeff_2: OnEdgesOfVertex,
        p_u: VertexK, p_v: VertexK, vertices: int32, levels: int32):
    interpolate(z_nabla4_e2, ptr_coeff_1, ptr_coeff_2, out=(p_u, p_v),
                domain={Vertex: (0, vertices), K: (0, levels)})


@gtx.program(grid_type=gtx.GridType.UNSTRUCTURED)
def verts2cells_separate(
        p_u: VertexK, p_v: VertexK, cell_coeff_1: OnCorners, cell_coeff_2: OnCorners,
        p_cell: CellK, cells: int32, levels: int32):
    verts2cells(p_u, p_v, cell_coeff_1, cell_coeff_2, out=p_cell,
                domain={Cell: (0, cells), K: (0, levels)})


@gtx.program(grid_type=gtx.GridType.UNSTRUCTURED)
def nabla4_interpolate_program(
        u_vert: VertexK, v_vert: VertexK, primal_normal_vert_v1: OnDiamond,
        primal_normal_vert_v2: OnDiamond, inv_vert_vert_length: OnEdge,
        inv_primal_edge_length: OnEdge, z_nabla2_e: EdgeK, z_nabla4_e2: EdgeK,
        ptr_coeff_1: OnEdgesOfVertex, ptr_coeff_2: OnEdgesOfVertex, p_u: VertexK, p_v: VertexK,
        edges: int32, vertices: int32, levels: int32):
    nabla4(u_vert, v_vert, primal_normal_vert_v1, primal_normal_vert_v2, inv_vert_vert_length,
           inv_primal_edge_length, z_nabla2_e, out=z_nabla4_e2,
           domain={Edge: (0, edges), K: (0, levels)})
    interpolate(z_nabla4_e2, ptr_coeff_1, ptr_coeff_2, out=(p_u, p_v),
                domain={Vertex: (0, vertices), K: (0, levels)})


@gtx.program(grid_type=gtx.GridType.UNSTRUCTURED)
def nabla4_interpolate_composed(
        u_vert: VertexK, v_vert: VertexK, primal_normal_vert_v1: OnDiamond,
        primal_normal_vert_v2: OnDiamond, inv_vert_vert_length: OnEdge,
        inv_primal_edge_length: OnEdge, z_nabla2_e: EdgeK, ptr_coeff_1: OnEdgesOfVertex,
        ptr_coeff_2: OnEdgesOfVertex, p_u: VertexK, p_v: VertexK, vertices: int32, levels: int32):
    both(u_vert, v_vert, primal_normal_vert_v1, primal_normal_vert_v2, inv_vert_vert_length,
         inv_primal_edge_length, z_nabla2_e, ptr_coeff_1, ptr_coeff_2, out=(p_u, p_v),
         domain={Vertex: (0, vertices), K: (0, levels)})


@gtx.program(grid_type=gtx.GridType.UNSTRUCTURED)
def nabla4_interpolate_verts2cells_program(
        u_vert: VertexK, v_vert: VertexK, primal_normal_vert_v1: OnDiamond,
        primal_normal_vert_v2: OnDiamond, inv_vert_vert_length: OnEdge,
        inv_primal_edge_length: OnEdge, z_nabla2_e: EdgeK, z_nabla4_e2: EdgeK,
        ptr_coeff_1: OnEdgesOfVertex, ptr_coeff_2: OnEdgesOfVertex, p_u: VertexK, p_v: VertexK,
        cell_coeff_1: OnCorners, cell_coeff_2: OnCorners, p_cell: CellK, edges: int32,
        vertices: int32, cells: int32, levels: int32):
    nabla4(u_vert, v_vert, primal_normal_vert_v1, primal_normal_vert_v2, inv_vert_vert_length,
           inv_primal_edge_length, z_nabla2_e, out=z_nabla4_e2,
           domain={Edge: (0, edges), K: (0, levels)})
    interpolate(z_nabla4_e2, ptr_coeff_1, ptr_coeff_2, out=(p_u, p_v),
                domain={Vertex: (0, vertices), K: (0, levels)})
    verts2cells(p_u, p_v, cell_coeff_1, cell_coeff_2, out=p_cell,
                domain={Cell: (0, cells), K: (0, levels)})


@gtx.program(grid_type=gtx.GridType.UNSTRUCTURED)
def nabla4_interpolate_verts2cells_composed(
        u_vert: VertexK, v_vert: VertexK, primal_normal_vert_v1: OnDiamond,
        primal_normal_vert_v2: OnDiamond, inv_vert_vert_length: OnEdge,
        inv_primal_edge_length: OnEdge, z_nabla2_e: EdgeK, ptr_coeff_1: OnEdgesOfVertex,
        ptr_coeff_2: OnEdgesOfVertex, cell_coeff_1: OnCorners, cell_coeff_2: OnCorners,
        p_cell: CellK, cells: int32, levels: int32):
    all_three(u_vert, v_vert, primal_normal_vert_v1, primal_normal_vert_v2, inv_vert_vert_length,
              inv_primal_edge_length, z_nabla2_e, ptr_coeff_1, ptr_coeff_2, cell_coeff_1,
              cell_coeff_2, out=p_cell, domain={Cell: (0, cells), K: (0, levels)})
